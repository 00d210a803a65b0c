#include "estimator/tree/interval_motion.hpp"

#include <algorithm>

#include "estimator/math/parallel_jobs.hpp"
#include "estimator/tree/interval_lanes.hpp"

namespace estimator {
namespace {

constexpr std::size_t kNarrow = 4, kWide = 16;  // lanes

}  // namespace

void IntervalMotion::run(std::span<MotionInterval> intervals,
                         std::span<Eigen::MatrixXd> angles) const {
  for_each_batch(threads_, intervals.size(), kWide, [&](std::size_t first, std::size_t count) {
    const auto some = intervals.subspan(first, count);
    if (count <= kNarrow) {
      IntervalLanes<kNarrow>(program_, values_).run(some, angles.subspan(first, count));
    } else {
      IntervalLanes<kWide>(program_, values_).run(some, angles.subspan(first, count));
    }
  });
}

}  // namespace estimator
