#include "estimator/simulation/interval/interval_motion.hpp"

#include <algorithm>
#include <numeric>

#include "estimator/math/parallel_jobs.hpp"
#include "estimator/simulation/interval/interval_lane.hpp"

namespace estimator {
namespace {

constexpr int kLegMost = 128, kLegLeast = 16;  // substeps

/// Number of substeps between checkpoints. It is small if few intervals must fill the lanes in
/// which their derivatives are computed.
int checkpoint_span_length(std::span<const MotionInterval> intervals) {
  const auto legs = static_cast<int>(kSideBySide / std::max<std::size_t>(intervals.size(), 1));
  if (legs < 2) return kLegMost;
  int longest = 0;
  for (const MotionInterval& each : intervals) longest = std::max(longest, each.substep_count());
  return std::clamp((longest + legs - 1) / legs, kLegLeast, kLegMost);
}

/// Computes the torques that hold resting joints at the end of the step. With loops, the step has
/// computed the forces already.
void find_torques(SharedLaneData& tools, const std::vector<SegmentIntegrator>& lanes) {
  if (tools.program.has_loops() || std::ranges::none_of(lanes, [](const SegmentIntegrator& lane) {
        return lane.has_interval() && lane.has_resting_joint();
      })) {
    return;
  }
  tools.lanes->compute_end_accelerations();
  for (std::size_t j = 0; j < tools.torques.size(); ++j) {
    tools.lanes->holding_torque(static_cast<int>(j), tools.torques[j].data());
  }
}

/// Integrates intervals side by side. A lane starts the next interval as soon as it has finished
/// its current one.
void integrate(SharedLaneData& tools, std::span<MotionInterval> intervals,
               std::span<Eigen::MatrixXd> angles) {
  std::vector<std::size_t> order(intervals.size());  // longest first, so that lanes end together
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return intervals[i].substep_count(); });
  std::size_t next = 0;
  const auto fill = [&](SegmentIntegrator& lane) {
    if (next < order.size()) {
      lane.start(intervals[order[next]], angles[order[next]]);
      ++next;
    } else {
      lane.idle();
    }
  };
  std::vector<SegmentIntegrator> lanes;
  for (int lane = 0; lane < tools.lanes->width(); ++lane) lanes.emplace_back(tools, lane);
  for (SegmentIntegrator& lane : lanes) fill(lane);
  while (std::ranges::any_of(lanes, &SegmentIntegrator::has_interval)) {
    tools.lanes->step();
    find_torques(tools, lanes);
    for (SegmentIntegrator& lane : lanes) {
      if (!lane.has_interval()) continue;
      lane.accept_or_shorten_segment();
      if (!lane.has_interval()) fill(lane);
    }
  }
}

}  // namespace

BatchIntegrator::BatchIntegrator(const TreeProgram& program, const Mechanism& values,
                                 double near_rest, std::size_t count)
    : tools_(std::make_unique<SharedLaneData>(program, values,
                                              IntegrationSegmentLimits{.near_rest = near_rest},
                                              count <= 4   ? 4
                                              : count <= 8 ? 8
                                                           : 16)) {}

BatchIntegrator::BatchIntegrator(BatchIntegrator&&) noexcept = default;
BatchIntegrator::~BatchIntegrator() = default;

void BatchIntegrator::run(int checkpoint_span, std::span<MotionInterval> intervals,
                          std::span<Eigen::MatrixXd> angles) {
  tools_->limits.checkpoint_span = checkpoint_span;
  integrate(*tools_, intervals, angles);
}

void IntervalIntegrator::run(std::span<MotionInterval> intervals,
                             std::span<Eigen::MatrixXd> angles) const {
  const int span = checkpoint_span_length(intervals);
  run_parallel_batches(threads_, intervals.size(), kSideBySide,
                       [&](std::size_t first, std::size_t count) {
                         BatchIntegrator(program_, values_, near_rest_, count)
                             .run(span, intervals.subspan(first, count),
                                  angles.subspan(first, count));
                       });
}

}  // namespace estimator
