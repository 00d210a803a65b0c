#include "estimator/simulation/interval/interval_motion.hpp"

#include <algorithm>

#include "estimator/math/parallel_jobs.hpp"
#include "estimator/simulation/interval/interval_lanes.hpp"

namespace estimator {
namespace {

constexpr std::size_t kNarrow = 4, kHalf = 8, kWide = kSideBySide;  // lanes
constexpr int kLegMost = 128, kLegLeast = 16;                       // substeps

/// Number of substeps between checkpoints. It is small if few intervals must fill the lanes in
/// which their derivatives are computed.
int checkpoint_span_length(std::span<const MotionInterval> intervals) {
  const auto legs = static_cast<int>(kSideBySide / std::max<std::size_t>(intervals.size(), 1));
  if (legs < 2) return kLegMost;
  int longest = 0;
  for (const MotionInterval& each : intervals) longest = std::max(longest, each.substep_count());
  return std::clamp((longest + legs - 1) / legs, kLegLeast, kLegMost);
}

}  // namespace

void IntervalMotion::run(std::span<MotionInterval> intervals,
                         std::span<Eigen::MatrixXd> angles) const {
  const SegmentLimits limits{.checkpoint_span = checkpoint_span_length(intervals),
                             .near_rest = near_rest_};
  for_each_batch(threads_, intervals.size(), kWide, [&](std::size_t first, std::size_t count) {
    const auto some = intervals.subspan(first, count);
    if (count <= kNarrow) {
      IntervalLanes<kNarrow>(program_, values_, limits).run(some, angles.subspan(first, count));
    } else if (count <= kHalf) {
      IntervalLanes<kHalf>(program_, values_, limits).run(some, angles.subspan(first, count));
    } else {
      IntervalLanes<kWide>(program_, values_, limits).run(some, angles.subspan(first, count));
    }
  });
}

}  // namespace estimator
