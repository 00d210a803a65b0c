#include "daq/safety/count_repetition.hpp"

#include <algorithm>
#include <cmath>

namespace daq {
namespace {

// Noise at rest repeats by chance, with a broken channel forever.
constexpr std::int64_t kExcursionMin = 8;  // [counts]

// Commands that differ by a stall command for this time move a joint by more than its counts:
// stall { time_s } is above sqrt(24 q / (κ command)).
constexpr double kImpulseTime_s = 0.1;

constexpr std::uint64_t kHashBase = 0x9E3779B97F4A7C15;

constexpr std::uint64_t power(std::uint64_t base, std::size_t exponent) {
  std::uint64_t result = 1;
  for (; exponent > 0; --exponent) result *= base;
  return result;
}

}  // namespace

CountRepetitionDetector::CountRepetitionDetector(double stall_command)
    : stall_command_(stall_command) {
  if (stall_command == 0.0) return;
  history_.resize(kHistory);
  last_with_hash_.resize(kSlots);
}

std::int64_t CountRepetitionDetector::add(std::int64_t counts, double command, double time_s,
                                          double steady_s, bool is_open_loop) noexcept {
  if (history_.empty()) return 0;
  const std::uint64_t dropped =
      count_ >= kWindow ? static_cast<std::uint64_t>(reading(count_ - kWindow).counts) : 0;
  hash_ =
      hash_ * kHashBase + static_cast<std::uint64_t>(counts) - dropped * power(kHashBase, kWindow);
  history_[count_ % kHistory] = {counts, command, time_s};
  ++count_;
  if (count_ < kWindow) return 0;
  steady_since_s_ = time_s - steady_s;
  if (repetition_.lag > 0 && counts == reading(count_ - 1 - repetition_.lag).counts) {
    extend_repetition(count_ - 1);
  } else {
    find_repetition();
  }
  last_with_hash_[(hash_ >> 32) % kSlots] = count_;

  const Repetition& found = repetition_;
  if (!is_open_loop || !(found.largest_impulse <= stall_command_ * kImpulseTime_s)) {
    return found.path.reversed();
  }
  return std::abs(command) < stall_command_ ? 0 : found.steady_path.reversed();
}

void CountRepetitionDetector::Path::add(std::int64_t counts) noexcept {
  length += std::abs(counts - last);
  last = counts;
  lowest = std::min(lowest, counts);
  highest = std::max(highest, counts);
}

std::int64_t CountRepetitionDetector::Path::reversed() const noexcept {
  const std::int64_t excursion = highest - lowest;
  return excursion < kExcursionMin || length - excursion <= kReversedMax ? 0 : length - excursion;
}

// Looks for an earlier window of the same counts. The table has the last one of each hash.
void CountRepetitionDetector::find_repetition() noexcept {
  repetition_ = {};
  const std::size_t end = last_with_hash_[(hash_ >> 32) % kSlots];  // readings up to it
  if (end < kWindow || count_ - end + kWindow >= kHistory || !matches(end)) return;
  const std::size_t first = count_ - kWindow;
  repetition_.lag = count_ - end;
  repetition_.path = repetition_.steady_path = Path(reading(first).counts);
  for (std::size_t number = first + 1; number < count_; ++number) extend_repetition(number);
}

bool CountRepetitionDetector::matches(std::size_t end) const noexcept {
  for (std::size_t ago = 1; ago <= kWindow; ++ago) {
    if (reading(count_ - ago).counts != reading(end - ago).counts) return false;
  }
  return true;
}

void CountRepetitionDetector::extend_repetition(std::size_t number) noexcept {
  const Reading &now = reading(number), &before = reading(number - 1);
  const double difference = now.command - reading(number - repetition_.lag).command;
  repetition_.path.add(now.counts);
  repetition_.steady_path.add(now.counts);
  const bool is_steady = !(reading(number - repetition_.lag).time_s < steady_since_s_);
  if (!is_steady) repetition_.steady_path = Path(now.counts);
  repetition_.impulse += difference * (now.time_s - before.time_s);
  if (!(std::abs(repetition_.impulse) <= repetition_.largest_impulse)) {
    repetition_.largest_impulse = std::abs(repetition_.impulse);
  }
}

}  // namespace daq
