#pragma once

#include <cstdint>
#include <string>

#include "proto/result.hpp"

namespace proto {

/// Batches that the other side has not acknowledged, numbered from 1 without holes.
class BatchStore {
 public:
  virtual ~BatchStore() = default;

  /// One past the newest batch that would survive a power cut. Only those are sent: a batch that
  /// the other side knows and this side has forgotten would have its number given away again.
  virtual std::uint64_t durable_end() const = 0;

  /// Every batch up to this one is acknowledged and need not be kept.
  virtual std::uint64_t acknowledged_through() const = 0;

  /// The batch of this number, acknowledged_through() < sequence < durable_end(): a serialized
  /// SampleBatch without its number. Empty where the disk has lost it.
  virtual Result<std::string> read(std::uint64_t sequence) = 0;

  virtual Status acknowledge(std::uint64_t through) = 0;
};

}  // namespace proto
