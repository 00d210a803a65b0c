#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <vector>

#include "estimator/model/encoder.hpp"
#include "estimator/simulation/interval/interval_motion.hpp"

namespace estimator {

/// Returns the start and end times of `count` steps of equal length [s], in the form that
/// SegmentControls expects.
inline std::vector<double> even_edges(double step, int count) {
  std::vector<double> edges;
  for (int k = 0; k <= count; ++k) edges.push_back(k * step);
  return edges;
}

/// Returns an unnamed encoder for each of the given joints.
inline std::vector<Encoder> joint_sensors(const std::vector<int>& joints) {
  std::vector<Encoder> sensors;
  for (const int j : joints) sensors.push_back({{}, JointKind::kRevolute, {{j, 1.0}}, 0});
  return sensors;
}

/// The motion over one interval, and the joint angles at its samples.
struct Moved {
  MotionInterval interval;
  Eigen::MatrixXd angles;
};

/// @param near_rest  as of IntervalIntegrator
inline Moved move(const TreeProgram& program, const Mechanism& values, const MotionInterval& from,
                  double near_rest = std::numeric_limits<double>::infinity()) {
  Moved moved{from, {}};
  IntervalIntegrator(program, values, 1, near_rest).run({&moved.interval, 1}, {&moved.angles, 1});
  return moved;
}

/// Simulates a mechanism without loops whose commands are held for a period, a row each. Returns
/// the joint angles at times 0, period, …
inline Eigen::MatrixXd simulate(const Mechanism& mechanism, const Eigen::VectorXd& start,
                                const Eigen::MatrixXd& commands, double period,
                                int steps_per_period) {
  const TreeProgram program(mechanism);
  const auto count = static_cast<int>(commands.rows());
  Segment segment;
  segment.period = period;
  segment.controls = commands;
  const int steps = count * steps_per_period;
  const SegmentControls controls(segment, even_edges(period / steps_per_period, steps),
                                 std::vector<ControlDelay>(program.motor_joints().size()));
  return move(program, mechanism,
              {.controls = &controls,
               .last_substep = controls.first(steps),
               .last_sample = count + 1,
               .period = period,
               .start = start})
      .angles;
}

/// Returns the derivatives of the end and of the readings of the given joints.
inline IntervalSensitivities::IntervalDerivatives slopes_of(const TreeProgram& program,
                                                            const Mechanism& values,
                                                            const Moved& moved,
                                                            const std::vector<int>& joints) {
  IntervalSensitivities::IntervalDerivatives slopes;
  IntervalSensitivities(program, values, joint_sensors(joints))
      .run({&moved.interval, 1}, {&slopes, 1});
  return slopes;
}

/// Compares the derivatives of the end and of all readings with central differences, along every
/// coordinate of the start and every motion parameter, except the direction with a kink.
///
/// @param reach  of the differences
inline void expect_slopes(const TreeProgram& program, const Mechanism& mechanism,
                          const MotionInterval& interval, double tolerance, double reach = 1e-7,
                          int kink = -1) {
  std::vector<int> joints(mechanism.joints.size());
  std::iota(joints.begin(), joints.end(), 0);
  const auto slopes = slopes_of(program, mechanism, move(program, mechanism, interval), joints);
  const auto states = static_cast<int>(interval.start.size());
  for (int d = 0; d < slopes.end.cols(); ++d) {
    SCOPED_TRACE(d);
    if (d == kink) continue;
    MotionInterval from = interval;
    Mechanism values = mechanism;
    double& changed =
        d < states ? from.start[d]
                   : values
                         .parameters[static_cast<std::size_t>(
                             program.motion_parameters()[static_cast<std::size_t>(d - states)])]
                         .value;
    // At a bound of zero only a one-sided difference is possible.
    const double above = changed + reach;
    const double below = d >= states && changed == 0.0 ? 0.0 : changed - reach;
    changed = above;
    const Moved up = move(program, values, from);
    changed = below;
    const Moved down = move(program, values, from);
    const auto expect_close = [&](const Eigen::VectorXd& own, const Eigen::VectorXd& difference) {
      const Eigen::VectorXd slope = difference / (above - below);
      EXPECT_LT((own - slope).cwiseAbs().maxCoeff(),
                tolerance * (1.0 + slope.cwiseAbs().maxCoeff()));
    };
    expect_close(slopes.end.col(d), up.interval.end - down.interval.end);
    for (const int j : joints) {
      expect_close(slopes.readings[static_cast<std::size_t>(j)].col(d),
                   up.angles.col(j) - down.angles.col(j));
    }
  }
}

}  // namespace estimator
