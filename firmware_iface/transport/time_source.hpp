#pragma once

#include "firmware_iface/transport/transport.hpp"

namespace firmware_iface {

/// Clock of a simulated line or unit.
class TimeSource {
 public:
  TimeSource() = default;
  TimeSource(const TimeSource&) = delete;
  TimeSource& operator=(const TimeSource&) = delete;
  virtual ~TimeSource() = default;
  virtual Nanoseconds now() const noexcept = 0;
  virtual void sleep_until(Nanoseconds time) noexcept = 0;
};

/// The computer's clock CLOCK_MONOTONIC.
class MonotonicTime final : public TimeSource {
 public:
  Nanoseconds now() const noexcept override;
  void sleep_until(Nanoseconds time) noexcept override;
};

}  // namespace firmware_iface
