#pragma once

#include <cstdint>
#include <string>

#include "proto/result.hpp"

namespace proto {

/// Batches that the service has not acknowledged, numbered from 1 without gaps.
class BatchStore {
 public:
  virtual ~BatchStore() = default;

  /// Returns the number that follows that of the newest durable batch. Only durable batches are
  /// sent: after a power cut, a lost number would be reused for a batch that the service already
  /// has.
  virtual std::uint64_t durable_end() const = 0;

  /// Returns the number of the newest acknowledged batch. acknowledge() marks all batches up to a
  /// number as acknowledged, so that they need not be kept.
  virtual std::uint64_t acknowledged_through() const = 0;

  /// Returns the batch of this number, acknowledged_through() < sequence < durable_end(), as a
  /// serialized SampleBatch without its number. Empty if the disk has lost it.
  virtual Result<std::string> read(std::uint64_t sequence) = 0;

  virtual Status acknowledge(std::uint64_t through) = 0;
};

}  // namespace proto
