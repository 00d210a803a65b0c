#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "proto/recording/recording_rules.hpp"
#include "proto/stream.pb.h"

namespace service {

/// Maximum number of batches in one session: more than two days at ten batches a second. The memory
/// needed per batch stays small compared with its samples on disk.
inline constexpr std::uint64_t kBatchCountMax = std::uint64_t{1} << 21;

/// Returns an upper bound for the size of a batch in a recording [byte]. Each of its messages
/// becomes a record of its own there, so small messages take many times their size in a batch.
std::uint64_t recorded_size(const rigcal::v1::SampleBatch& batch);

/// Checks that the batches of one session satisfy the rules for recordings, so that every
/// acknowledged batch can be stored.
class BatchCheck {
 public:
  explicit BatchCheck(const proto::RecordingShape& shape) : rules_(shape) {}

  /// Returns nothing and counts the samples if the batch is valid; otherwise returns the reason.
  std::optional<std::string> check_and_add(const rigcal::v1::SampleBatch& batch);

  /// Sum of recorded_size() over all accepted batches.
  std::uint64_t recorded_bytes() const { return recorded_bytes_; }

 private:
  proto::RecordingRules rules_;
  std::uint64_t recorded_bytes_ = 0;
};

}  // namespace service
