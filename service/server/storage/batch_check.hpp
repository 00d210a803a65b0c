#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "proto/recording/recording_rules.hpp"
#include "proto/service.pb.h"
#include "proto/stream.pb.h"

namespace service {

/// Maximum number of sample batches in one session: more than two days at ten batches a second. The
/// memory that the service needs per batch is small compared with the batch's samples on disk.
inline constexpr std::uint64_t kBatchCountMax = std::uint64_t{1} << 21;

/// Metadata of a session: a value for each key.
using SessionMetadata = google::protobuf::Map<std::string, std::string>;

/// Reads the names of joints, sensors and motors from the metadata of a session.
/// @return nullopt if the names are not valid in a recording
std::optional<proto::RecordingHeader> names_of(const SessionMetadata& metadata);

/// Returns an upper bound for the size that a batch of samples takes in a recording file [byte].
/// The file stores each message of the batch as a separate record, so batches of small messages
/// become many times larger.
std::uint64_t recorded_size(const rigcal::v1::SampleBatch& batch);

/// Checks that the sample batches of one session satisfy the rules for recordings, so that the
/// service can store every batch that it acknowledged.
class BatchCheck {
 public:
  explicit BatchCheck(const proto::RecordingShape& shape) : rules_(shape) {}

  /// Returns nullopt and counts the batch's samples if the batch is valid; otherwise returns the
  /// reason for rejecting it.
  std::optional<std::string> check_and_add(const rigcal::v1::SampleBatch& batch);

  /// Returns the sum of recorded_size() over all accepted batches [byte].
  std::uint64_t recorded_bytes() const { return recorded_bytes_; }

 private:
  proto::RecordingRules rules_;
  std::uint64_t recorded_bytes_ = 0;
};

}  // namespace service
