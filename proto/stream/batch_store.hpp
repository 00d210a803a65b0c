#pragma once

#include <cstdint>
#include <string>

#include "proto/result.hpp"

namespace proto {

/// Interface of a store of sample batches that the service has not acknowledged. Batches are
/// numbered from 1 without gaps.
class BatchStore {
 public:
  virtual ~BatchStore() = default;

  /// Returns the number of the newest durable batch plus 1. Only durable batches are sent.
  /// Otherwise, after a power failure, the number of a lost batch would be reused although the
  /// service already has a batch of this number.
  virtual std::uint64_t durable_batch_end() const = 0;

  /// Returns the number of the newest acknowledged batch. acknowledge() marks all batches up to a
  /// number as acknowledged; the store may then delete these batches.
  virtual std::uint64_t acknowledged_through() const = 0;

  /// Returns the batch with the number `sequence`, as a serialized SampleBatch without its number.
  /// acknowledged_through() < sequence < durable_batch_end(). Empty if the disk has lost the batch.
  virtual Result<std::string> read(std::uint64_t sequence) = 0;

  virtual Status acknowledge(std::uint64_t through) = 0;
};

}  // namespace proto
