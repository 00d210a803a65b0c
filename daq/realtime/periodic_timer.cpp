#include "daq/realtime/periodic_timer.hpp"

#include <cassert>
#include <cerrno>
#include <ctime>

namespace daq {

void sleep_until(Nanoseconds deadline) noexcept {
  constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
  const timespec until{.tv_sec = deadline.count() / kNanosecondsPerSecond,
                       .tv_nsec = deadline.count() % kNanosecondsPerSecond};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

NextDeadline next_deadline(Nanoseconds deadline, Nanoseconds period, Nanoseconds now) noexcept {
  assert(period.count() > 0);
  const Nanoseconds next = deadline + period;
  if (now < next) return {next, 0};
  const std::int64_t skipped = (now - next) / period + 1;
  return {next + skipped * period, skipped};
}

PeriodicTimer::PeriodicTimer(Nanoseconds period) noexcept
    : period_(period), deadline_(monotonic_now() + period) {
  assert(period.count() > 0);
}

std::int64_t PeriodicTimer::wait() noexcept {
  const NextDeadline next = next_deadline(deadline_, period_, monotonic_now());
  deadline_ = next.deadline;
  sleep_until(deadline_);
  return next.skipped;
}

}  // namespace daq
