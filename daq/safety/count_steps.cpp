#include "daq/safety/count_steps.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace daq {
namespace {

// An impact changes a speed at once, but a position only with the speeds before and after it. So a
// step is at most as large as its neighbours, plus the travel that an acceleration causes. A coarse
// encoder counts several at once, and one that is read late catches up: hence the margins.
constexpr double kStepMargin = 16.0;  // [counts]
constexpr double kStepRatio = 8.0;

// Margin of a reversal for accelerations by other joints. A noisy encoder, or a motor that is
// strong, changes the speed as much before.
constexpr double kReversalRatio = 1.5;
constexpr double kUnusualRatio = 2.0;

}  // namespace

void CountStepDetector::add(std::int64_t counts, double time_s) noexcept {
  history_[next_++ % kHistory] = {static_cast<double>(counts), time_s};
  turn_ = find_turn();
  store_change();
}

CountStepDetector::Reading CountStepDetector::step(std::size_t ago) const noexcept {
  const Reading &to = reading(ago), &from = reading(ago + 1);
  return {std::abs(to.counts - from.counts), to.time_s - from.time_s};
}

CountStepDetector::Comparison CountStepDetector::compare_step() const noexcept {
  if (next_ < 2 * kNeighbours + 2) return {};
  const Reading single = step(kNeighbours);
  if (single.counts <= kStepMargin) return {};
  double fastest = 0.0;  // [counts/s]
  for (std::size_t ago = 0; ago <= 2 * kNeighbours; ++ago) {
    const Reading other = step(ago);
    if (ago != kNeighbours) fastest = std::max(fastest, other.counts / other.time_s);
  }
  const double accelerated = acceleration_max_ * single.time_s * single.time_s;
  return {single.counts, std::max(kStepMargin, kStepRatio * fastest * single.time_s) + accelerated};
}

// The speeds are those of two windows of duration τ, each uncertain by 1/τ counts. An acceleration
// a changes them by a τ, which is the same for τ = sqrt(2/a).
CountStepDetector::Turn CountStepDetector::find_turn() const noexcept {
  if (next_ < kHistory) return {};
  const double best = std::sqrt(2.0 / acceleration_max_) / step(0).time_s;
  const std::size_t n =
      best >= 1.0 ? static_cast<std::size_t>(std::min(std::ceil(best), 1.0 * kWindowMax)) : 1;
  const Reading &now = reading(0), &middle = reading(n), &first = reading(2 * n);
  const double after_s = now.time_s - middle.time_s, before_s = middle.time_s - first.time_s;
  const double honest =
      acceleration_max_ * 0.5 * (after_s + before_s) + 2.0 / std::min(after_s, before_s);
  return {(middle.counts - first.counts) / before_s, (now.counts - middle.counts) / after_s,
          after_s + before_s, kReversalRatio * honest};
}

// The changes of the last blocks may belong to the turn that is compared.
void CountStepDetector::store_change() noexcept {
  changes_.block = std::max(changes_.block, std::abs(turn_.change()));
  if (++changes_.readings % kBlock != 0) return;
  changes_.earlier = std::max(changes_.earlier, changes_.last_block);
  changes_.last_block = std::exchange(changes_.block, 0.0);
}

CountStepDetector::Comparison CountStepDetector::compare_reversal(double direction,
                                                                  double pushed_s) const noexcept {
  if (changes_.readings < kBlocksMin * kBlock || !(turn_.before * direction > 0.0) ||
      !(turn_.after * direction < 0.0) || !(pushed_s >= turn_.duration_s)) {
    return {};
  }
  return {std::abs(turn_.change()), std::max(turn_.limit, kUnusualRatio * changes_.earlier)};
}

}  // namespace daq
