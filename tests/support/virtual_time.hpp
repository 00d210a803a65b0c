#pragma once

#include "firmware_iface/transport/url.hpp"

namespace firmware_iface {

/// Clock of a test that advances only when the program sleeps. Sleeping takes no real time.
class VirtualTime final : public TimeSource {
 public:
  Nanoseconds now() const noexcept override { return now_; }
  void sleep_until(Nanoseconds time) noexcept override {
    if (time > now_) now_ = time;
  }

 private:
  Nanoseconds now_{0};
};

}  // namespace firmware_iface
