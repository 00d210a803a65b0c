#include "firmware_iface/transport/time_source.hpp"

#include <cerrno>
#include <ctime>

#include "firmware_iface/transport/descriptor.hpp"

namespace firmware_iface {

Nanoseconds MonotonicTime::now() const noexcept { return monotonic_now(); }

void MonotonicTime::sleep_until(Nanoseconds time) noexcept {
  timespec until{};
  until.tv_sec = time.count() / 1'000'000'000;
  until.tv_nsec = time.count() % 1'000'000'000;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace firmware_iface
