#include "service/server/storage/batch_check.hpp"

#include "proto/recording/convert.hpp"

namespace service {
namespace {

template <typename Messages>
proto::RuleViolation take_all(const Messages& messages, proto::RecordingRules& rules) {
  for (const auto& message : messages) {
    const auto thing = proto::from_message(message);
    if (!thing) {
      return "the arrays of a sample differ in length or name more than eight channels, or an "
             "inertial reading has no count for each axis";
    }
    if (auto breach = rules.take(*thing)) return breach;
  }
  return std::nullopt;
}

// Size of an MCAP message's record header and its entry in the chunk index [byte].
constexpr std::uint64_t kMessageOverhead = 48;

}  // namespace

std::optional<proto::RecordingHeader> names_of(const SessionMetadata& metadata) {
  return proto::header_from_metadata([&](std::string_view key) {
    const auto found = metadata.find(std::string(key));
    return found == metadata.end() ? std::string() : found->second;
  });
}

std::uint64_t recorded_size(const rigcal::v1::SampleBatch& batch) {
  const int messages = batch.samples_size() + batch.inertial_size() + batch.commands_size() +
                       batch.gaps_size() + batch.events_size() + batch.clock_fits_size() +
                       batch.loop_stats_size();
  return batch.ByteSizeLong() + kMessageOverhead * static_cast<std::uint64_t>(messages);
}

std::optional<std::string> BatchCheck::check_and_add(const rigcal::v1::SampleBatch& batch) {
  const std::string where = "batch " + std::to_string(batch.batch_sequence()) + ": ";
  if (batch.batch_sequence() > kBatchCountMax) {
    return where + "a session has at most " + std::to_string(kBatchCountMax) + " batches";
  }
  proto::RecordingRules rules = rules_;
  auto breach = take_all(batch.samples(), rules);
  if (!breach) breach = take_all(batch.inertial(), rules);
  if (!breach) breach = take_all(batch.commands(), rules);
  if (!breach) breach = take_all(batch.gaps(), rules);
  if (!breach) breach = take_all(batch.events(), rules);
  if (!breach) breach = take_all(batch.clock_fits(), rules);
  if (!breach) breach = take_all(batch.loop_stats(), rules);
  if (breach) return where + *breach;
  rules_ = rules;
  recorded_bytes_ += recorded_size(batch);
  return std::nullopt;
}

}  // namespace service
