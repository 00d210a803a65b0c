#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "proto/recording/recording_rules.hpp"
#include "proto/stream.pb.h"

namespace service {

/// Batches of one session, at most: at ten a second more than two days. What is held in memory for
/// each stays small beside what its samples take on the disk.
inline constexpr std::uint64_t kBatchCountMax = std::uint64_t{1} << 21;

/// What a batch takes in a recording, at most [byte]: there each of its messages is a record of its
/// own, and small ones take many times what they have in a batch.
std::uint64_t recorded_size(const rigcal::v1::SampleBatch& batch);

/// Holds the batches of one session to what a recording may contain, so that everything that was
/// acknowledged can be stored.
class BatchCheck {
 public:
  explicit BatchCheck(const proto::RecordingShape& shape) : rules_(shape) {}

  /// Nothing if the batch is good, and then its samples count as seen; else why it is not.
  std::optional<std::string> take(const rigcal::v1::SampleBatch& batch);

  /// recorded_size() of all that it has taken.
  std::uint64_t recorded_bytes() const { return recorded_bytes_; }

 private:
  proto::RecordingRules rules_;
  std::uint64_t recorded_bytes_ = 0;
};

}  // namespace service
