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

/// A number with its slope along one lane; −1: none.
template <typename T>
T along_lane(double value, double slope, int lane) {
  if constexpr (std::is_same_v<T, Dual>) {
    Dual result(value);
    if (lane >= 0) result.derivatives()[lane] = slope;
    return result;
  } else {
    return value;
  }
}

/// Controls of a step as the integrator takes them.
template <typename T>
void ShootingProblem::draw_lines(std::span<const ControlStretch> stretches,
                                 const std::vector<int>& delay_lanes, MotionInput<T>& input) const {
  const auto edge = [&](double time, int motor) {
    return along_lane<T>(time, 1.0, motor < 0 ? -1 : delay_lanes[static_cast<std::size_t>(motor)]);
  };
  input.resize(stretches.size());
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const ControlStretch& stretch = stretches[i];
    ControlLine<T>& line = input[i];
    line.begin = edge(stretch.begin, stretch.begin_motor);
    line.end = edge(stretch.end, stretch.end_motor);
    line.control = JointVector<T>::Constant(hinge_count_, T(0.0));
    line.slope = line.control;
    for (std::size_t m = 0; m < motors_.size(); ++m) {
      const auto motor = static_cast<Eigen::Index>(m);
      const int lane = delay_lanes[m];
      const T rise = along_lane<T>(stretch.rise[motor], stretch.rise_slope[motor], lane);
      const T mean = along_lane<T>(stretch.mean[motor], stretch.mean_slope[motor], lane);
      line.control[motors_[m]] = mean - 0.5 * rise;
      if (stretch.end > stretch.begin) line.slope[motors_[m]] = rise / (line.end - line.begin);
    }
  }
}

/// Integrates one interval; calls read(sample, time since its step began) for each of its samples,
/// in order, right after the step that holds it. A step that begins at a sample's time holds it.
///
/// @param first_direction  direction that stands in the first lane of a Dual
template <typename T, typename Read>
void ShootingProblem::shoot(TreeMotion<T>& motion, const ShotSegment& segment,
                            const HeldControls& controls, const Span& span, int first_direction,
                            JointState<T>& state, const Read& read) const {
  const std::vector<int> lanes = delay_lanes(first_direction);
  MotionInput<T> input;
  int sample = span.first;
  for (int step = span.begin; step < span.end; ++step) {
    draw_lines(controls.stretches(step), lanes, input);
    if (step == span.begin) motion.settle(state, input);
    motion.advance(state, input);
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
