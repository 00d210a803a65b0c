#include "service/server/storage/session_log.hpp"

#include <cassert>
#include <filesystem>
#include <utility>

#include "proto/recording/convert.hpp"
#include "service/server/storage/durable_file.hpp"

namespace service {
namespace {

template <typename Messages>
proto::RuleViolation take_all(const Messages& messages, proto::RecordingRules& rules) {
  for (const auto& message : messages) {
    const auto thing = proto::from_message(message);
    if (!thing) {
      return "the arrays of a sample differ in length or have more than eight channels, "
             "or the count of an axis is missing in an inertial reading";
    }
    if (auto breach = rules.take(*thing)) return breach;
  }
  return std::nullopt;
}

// Size of an MCAP message's record header and its entry in the chunk index [byte].
constexpr std::uint64_t kMessageOverhead = 48;

}  // namespace

std::optional<proto::RecordingHeader> parse_joint_and_sensor_names(
    const SessionMetadata& metadata) {
  return proto::header_from_metadata([&](std::string_view key) {
    const auto found = metadata.find(std::string(key));
    return found == metadata.end() ? std::string() : found->second;
  });
}

std::uint64_t recorded_size_bytes(const rigcal::v1::SampleBatch& batch) {
  const int messages = batch.samples_size() + batch.inertial_size() + batch.commands_size() +
                       batch.gaps_size() + batch.events_size() + batch.clock_fits_size() +
                       batch.loop_stats_size();
  return batch.ByteSizeLong() + kMessageOverhead * static_cast<std::uint64_t>(messages);
}

std::optional<std::string> BatchValidator::validate_and_add(const rigcal::v1::SampleBatch& batch) {
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
  recorded_bytes_ += recorded_size_bytes(batch);
  return std::nullopt;
}

using proto::Error;
using proto::ErrorCode;
using proto::Result;
using proto::Status;
using rigcal::v1::SampleBatch;

rigcal::v1::SessionRecord make_session_record(const rigcal::v1::SessionInfo& info,
                                              const std::string& secret) {
  rigcal::v1::SessionRecord record;
  *record.mutable_info() = info;
  record.set_secret(secret);
  return record;
}

Status save_session(const std::string& folder, const rigcal::v1::SessionInfo& info,
                    const std::string& secret) {
  return save_record(folder + '/' + kSessionRecordFile, make_session_record(info, secret));
}

std::string session_log_folder(const std::string& session_folder) {
  return session_folder + "/spool";
}

Result<SampleBatch> read_batch(proto::Spool& spool, std::uint64_t sequence) {
  auto payload = spool.read(sequence);
  if (!payload.ok()) return payload.error();
  SampleBatch batch;
  if (!batch.ParseFromString(payload.value()) || batch.batch_sequence() != sequence) {
    return Error{ErrorCode::kDamaged,
                 "batch " + std::to_string(sequence) + " is damaged on the service's disk"};
  }
  return batch;
}

Result<SessionLog> SessionLog::open(const std::string& folder, const proto::RecordingShape& shape,
                                    std::uint64_t size_bytes_max) {
  std::error_code ignored;
  if (std::filesystem::is_symlink(folder, ignored)) {
    return Error{ErrorCode::kInputOutput, folder + ": is a symbolic link, which is not followed"};
  }
  auto spool = proto::Spool::open(
      folder, {.size_bytes_max = size_bytes_max, .segment_size_bytes = kLogFileSize});
  if (!spool.ok()) return spool.error();
  if (Status synced = sync_files_in_folder(folder); !synced.ok()) return synced.error();
  SessionLog log(std::move(spool.value()), shape);
  for (std::uint64_t sequence = 1; sequence < log.spool_.end(); ++sequence) {
    auto batch = read_batch(log.spool_, sequence);
    if (!batch.ok()) return batch.error();
    if (const auto fault = log.check_.validate_and_add(batch.value())) {
      return Error{ErrorCode::kDamaged, *fault};
    }
    log.sample_count_ += static_cast<std::uint64_t>(batch.value().samples_size());
  }
  log.last_durable_ = log.spool_.end() - 1;
  return log;
}

Result<std::string> SessionLog::read(std::uint64_t sequence) {
  assert(sequence >= 1 && sequence <= last_durable_);
  auto stored = spool_.read(sequence);
  if (stored.ok() && stored.value().empty()) {
    return Error{ErrorCode::kDamaged,
                 "batch " + std::to_string(sequence) + " is damaged on the service's disk"};
  }
  return stored;
}

Result<bool> SessionLog::holds(std::uint64_t sequence, const std::string& batch) {
  const auto stored = read(sequence);
  if (!stored.ok()) return stored.error();
  return stored.value() == batch;
}

Status SessionLog::append_durably(const std::vector<std::string>& batches) {
  Status stored = proto::success();
  for (const std::string& batch : batches) {
    const auto number = spool_.append(batch);
    if (!number.ok()) {
      stored = number.error();
      break;
    }
  }
  if (Status synced = spool_.sync(); !synced.ok()) return synced;
  last_durable_ = spool_.end() - 1;
  return stored;
}

}  // namespace service
