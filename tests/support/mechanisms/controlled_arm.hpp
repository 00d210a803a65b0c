#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace test_support {

/// Returns an arm with two or three links, motors at all joints, and viscous and Coulomb friction.
/// The first axis is vertical, the others are horizontal. Every link has its own mass, a centre of
/// mass beside the line between its joints, and products of inertia. No parameter is free. The
/// parameters "L1.c_x" … are the centres of mass, on which the points of the joints depend.
estimator::Mechanism make_arm(int links);

/// A joint position controller, its reference motion, and the noise of its recording.
struct ArmExperiment {
  double duration = 8.0;      ///< [s]
  double period = 0.004;      ///< sampling period [s]
  double slowest = 0.25;      ///< frequency of the first of four sines of each joint [Hz]
  double swing = 0.35;        ///< amplitude of the first sine [rad]
  double bandwidth = 30.0;    ///< of the controller [rad/s]
  double angle_noise = 5e-5;  ///< standard deviation [rad]
  /// Standard deviation of the recorded torque of each joint [N·m].
  std::vector<double> torque_noise = {0.05};
  unsigned seed = 1;
};

/// Simulates an arm under PD control and returns the recording. The controls are torques, with
/// noise that did not act. The arm starts at rest.
estimator::Recording record_arm(const estimator::Mechanism& arm, const ArmExperiment& experiment);

/// Frees masses, centres of mass and moments of inertia of the links from the second on, and the
/// friction of all joints. Initial friction is a hundredth of its value.
/// @param factor  initial values relative to masses and moments of inertia
estimator::Mechanism free_arm(estimator::Mechanism arm, double factor);

}  // namespace test_support
