#include "daq/realtime/timing.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace daq {
namespace {

// There is only one writer, so a load and a store replace the slower fetch_add.
void add_to(std::atomic<std::int64_t>& value, std::int64_t by) noexcept {
  value.store(value.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

}  // namespace

void sleep_until(Nanoseconds deadline) noexcept {
  constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
  const timespec until{.tv_sec = deadline.count() / kNanosecondsPerSecond,
                       .tv_nsec = deadline.count() % kNanosecondsPerSecond};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

NextDeadline compute_next_deadline(Nanoseconds deadline, Nanoseconds period,
                                   Nanoseconds now) noexcept {
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
  const NextDeadline next = compute_next_deadline(deadline_, period_, monotonic_now());
  deadline_ = next.deadline;
  sleep_until(deadline_);
  return next.skipped;
}

void TimingHistogram::add(Nanoseconds duration) noexcept {
  const std::int64_t ns = std::max<std::int64_t>(duration.count(), 0);
  const auto bin = static_cast<std::size_t>(std::min<std::int64_t>(ns / 1000, kBins - 1));
  add_to(bins_[bin], 1);
  add_to(sum_, ns);
  if (ns > max_.load(std::memory_order_relaxed)) max_.store(ns, std::memory_order_relaxed);
  add_to(count_, 1);
}

Nanoseconds TimingHistogram::mean() const noexcept {
  const std::int64_t n = count();
  return Nanoseconds(n == 0 ? 0 : sum_.load(std::memory_order_relaxed) / n);
}

double TimingHistogram::percentile_us(double fraction) const noexcept {
  assert(fraction > 0.0 && fraction <= 1.0);
  const auto wanted = static_cast<std::int64_t>(std::ceil(fraction * static_cast<double>(count())));
  if (wanted == 0) return 0.0;
  std::int64_t below = 0;
  for (std::size_t bin = 0; bin + 1 < kBins; ++bin) {
    below += bins_[bin].load(std::memory_order_relaxed);
    if (below >= wanted) return static_cast<double>(bin + 1);
  }
  return static_cast<double>(max().count()) * 1e-3;
}

std::string TimingHistogram::text_chart() const {
  constexpr int kWidth = 50;
  std::string text;
  const double total = static_cast<double>(std::max<std::int64_t>(count(), 1));
  for (std::size_t low = 0, high = 1; low < kBins; low = high, high *= 2) {
    std::int64_t inside = 0;
    for (std::size_t bin = low; bin < std::min<std::size_t>(high, kBins); ++bin) {
      inside += bins_[bin].load(std::memory_order_relaxed);
    }
    const double share = static_cast<double>(inside) / total;
    char row[64];
    std::snprintf(row, sizeof row, "%5zu µs and more %9lld ", low, static_cast<long long>(inside));
    text += row;
    text.append(static_cast<std::size_t>(std::ceil(share * kWidth)), '#');
    text += '\n';
  }
  return text;
}

}  // namespace daq
