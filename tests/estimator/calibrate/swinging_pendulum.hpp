#pragma once

#include <random>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "tests/support/mechanisms/pendulum.hpp"
#include "tests/support/reference_simulators.hpp"

namespace test_support {

/// Returns the pendulum with its friction as a mechanism; no parameter is free.
inline estimator::Mechanism pendulum_of(const ReferencePendulum& rig) {
  using estimator::JointQuantity;
  estimator::Mechanism mechanism = estimator::make_pendulum({.inertia_swing = rig.J});
  mechanism.parameter(estimator::WorldQuantity::kGravity).value = rig.g;
  mechanism.joint_parameter(0, JointQuantity::kViscous).value = rig.b;
  mechanism.joint_parameter(0, JointQuantity::kQuadraticDrag).value = rig.c;
  mechanism.joint_parameter(0, JointQuantity::kCoulombTorque).value = rig.tau_c;
  mechanism.joint_parameter(0, JointQuantity::kStribeckTorque).lower = -1.0;
  mechanism.joint_parameter(0, JointQuantity::kStribeckTorque).value = rig.tau_s - rig.tau_c;
  mechanism.joint_parameter(0, JointQuantity::kStribeckRate).value = rig.zeta;
  return mechanism;
}

/// Returns a recording with white noise of a swing that starts at rest at `angle` [rad], from a
/// simulator that shares no code with the estimator.
/// @param period  time between samples [s]
inline estimator::Recording swing(const ReferencePendulum& rig, const std::string& name,
                                  double angle, int samples, double period, double noise,
                                  unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0.0, noise);
  estimator::Segment segment;
  segment.period = period;
  segment.angles = simulate(rig, Eigen::Vector2d(angle, 0.0), period, samples).col(0);
  segment.controls.resize(segment.angles.rows(), 0);
  for (double& reading : segment.angles.reshaped()) reading += normal(random);
  return {name, {segment}};
}

/// Returns the mechanism with the named parameters free, initially at `factor` times their values.
inline estimator::Mechanism freed(estimator::Mechanism mechanism,
                                  const std::vector<std::string>& names, double factor = 1.0) {
  for (const std::string& name : names) {
    auto& parameter =
        mechanism.parameters[static_cast<std::size_t>(mechanism.find_parameter(name))];
    parameter.value *= factor;
    parameter.free = true;
  }
  return mechanism;
}

}  // namespace test_support
