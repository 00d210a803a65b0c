#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "estimator/calibrate/shooting_problem.hpp"

namespace estimator {

/// First nodes are tied to where they began by this much [rad, rad/s]: nothing beside any reading,
/// and enough where no reading sees them (a speed that friction stops at once).
inline constexpr double kStartAngleDeviation = 10.0;
inline constexpr double kStartRateDeviation = 100.0;
inline constexpr double kShootingGridTolerance = 1e-6;

/// A control with its slope along one lane; −1: none.
template <typename T>
T held(double value, double slope, int lane) {
  if constexpr (std::is_same_v<T, Dual>) {
    Dual result(value);
    if (lane >= 0) result.derivatives()[lane] = slope;
    return result;
  } else {
    return value;
  }
}

/// Integrates one interval; calls read(sample, time since its step began) for each of its samples,
/// in order, right after the step that holds it. A step that begins at a sample's time holds it.
///
/// @param delay_lane_begin  lane of the first free input delay is that of its arrow position less
///                          this; negative: no derivatives
template <typename T, typename Read>
void ShootingProblem::shoot(TreeMotion<T>& motion, const ShotSegment& segment,
                            const Controls& controls, const Span& span, int first_direction,
                            JointState<T>& state, const Read& read) const {
  MotionInput<T> input;
  input.mean = JointVector<T>::Constant(hinge_count_, T(0.0));
  input.rise = input.mean;
  std::vector<int> lanes(motors_.size(), -1);
  for (std::size_t motor = 0; motor < motors_.size(); ++motor) {
    const int position =
        free_.position(point_.mechanism.index_of_hinge(motors_[motor], HingeQuantity::kInputDelay));
    const auto found = std::find(moving_.begin(), moving_.end(), position);
    if (found == moving_.end()) continue;
    const int lane = 2 * hinge_count_ + static_cast<int>(found - moving_.begin()) - first_direction;
    if (lane >= 0 && lane < kDualLanes) lanes[motor] = lane;
  }
  int sample = span.first;
  for (int step = span.begin; step < span.end; ++step) {
    for (std::size_t motor = 0; motor < motors_.size(); ++motor) {
      const auto column = static_cast<Eigen::Index>(motor);
      input.mean[motors_[motor]] =
          held<T>(controls.mean(step, column), controls.mean_slope(step, column), lanes[motor]);
      input.rise[motors_[motor]] =
          held<T>(controls.rise(step, column), controls.rise_slope(step, column), lanes[motor]);
    }
    if (step == span.begin) motion.settle(state, input);
    motion.advance(state, input, segment.step);
    const double begin = step * segment.step;
    const double reach = step + 1 == span.end && span.last == segment.data.sample_count()
                             ? std::numeric_limits<double>::infinity()
                             : begin + segment.step * (1.0 - kShootingGridTolerance);
    for (; sample < span.last && sample * segment.data.period < reach; ++sample) {
      read(sample, std::max(0.0, sample * segment.data.period - begin));
    }
  }
}

}  // namespace estimator
