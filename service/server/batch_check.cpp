#include "service/server/batch_check.hpp"

#include "proto/recording/convert.hpp"

namespace service {
namespace {

template <typename Messages>
proto::RuleBreach take_all(const Messages& messages, proto::RecordingRules& rules) {
  for (const auto& message : messages) {
    const auto thing = proto::from_message(message);
    // Only a sample can be without one.
    if (!thing) return "the arrays of a sample differ in length, or name more than eight channels";
    if (auto breach = rules.take(*thing)) return breach;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> BatchCheck::take(const rigcal::v1::SampleBatch& batch) {
  const std::string where = "batch " + std::to_string(batch.batch_sequence()) + ": ";
  if (batch.batch_sequence() > kBatchCountMax) {
    return where + "a session has at most " + std::to_string(kBatchCountMax) + " batches";
  }
  proto::RecordingRules rules = rules_;
  auto breach = take_all(batch.samples(), rules);
  if (!breach) breach = take_all(batch.commands(), rules);
  if (!breach) breach = take_all(batch.gaps(), rules);
  if (!breach) breach = take_all(batch.events(), rules);
  if (!breach) breach = take_all(batch.clock_fits(), rules);
  if (!breach) breach = take_all(batch.loop_stats(), rules);
  if (breach) return where + *breach;
  rules_ = rules;
  return std::nullopt;
}

}  // namespace service
