#include "daq/safety/swing_growth.hpp"

#include <algorithm>
#include <cstdlib>

namespace daq {
namespace {

// Without drive, swings decay. Coupled joints exchange energy, so a single swing may grow. This
// many consecutive ones, each by a tenth and these counts, may not.
constexpr int kGrowthsMax = 4;
constexpr double kMarginCounts = 8.0;
constexpr std::int64_t kTurningCounts = 4;  // back from an extreme, which then was a turning point

}  // namespace

double SwingGrowthDetector::add(std::int64_t counts, double time_s,
                                double counts_per_turn) noexcept {
  if (direction_ == 0) {
    if (!has_extreme_) extreme_ = counts;
    has_extreme_ = true;
    const std::int64_t ahead = counts - extreme_;
    if (std::abs(ahead) < kTurningCounts) return 0.0;
    *this = {};
    direction_ = ahead < 0 ? -1 : 1;
    extreme_ = turn_counts_ = counts;
    turn_s_ = time_s;
    return 0.0;
  }
  const std::int64_t ahead = (counts - extreme_) * direction_;
  if (ahead > 0) extreme_ = counts;
  double growth = 0.0;
  if (ahead > -kTurningCounts) {
    const auto turned = static_cast<double>(std::abs(counts - turn_counts_));
    if (counts_per_turn <= 0.0 || turned < counts_per_turn) return 0.0;
    growth = update_growth(turned / counts_per_turn / (time_s - turn_s_), fastest_turn_, 0.0);
  } else {
    if (has_extreme_) {
      growth = update_growth(static_cast<double>(std::abs(extreme_ - last_extreme_)),
                             largest_swing_, kMarginCounts);
    }
    has_extreme_ = true;
    last_extreme_ = extreme_;
    extreme_ = counts;
    direction_ = -direction_;
  }
  turn_counts_ = counts;
  turn_s_ = time_s;
  return growth;
}

// The first has none to compare with.
double SwingGrowthDetector::update_growth(double size, double& largest, double margin) noexcept {
  const bool grows = largest > 0.0 && size > (1.0 + kShare) * largest + margin;
  growths_ = grows ? growths_ + 1 : 0;
  const double ratio = size / largest;
  largest = std::max(largest, size);
  return growths_ >= kGrowthsMax ? ratio : 0.0;
}

}  // namespace daq
