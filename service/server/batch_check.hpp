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

/// Holds the batches of one session to what a recording may contain, so that everything that was
/// acknowledged can be stored.
class BatchCheck {
 public:
  explicit BatchCheck(std::size_t hinge_count) : rules_(hinge_count) {}

  /// Nothing if the batch is good, and then its samples count as seen; else why it is not.
  std::optional<std::string> take(const rigcal::v1::SampleBatch& batch);

 private:
  proto::RecordingRules rules_;
};

}  // namespace service
