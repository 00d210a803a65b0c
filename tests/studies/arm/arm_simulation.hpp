#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "tests/studies/arm/arm_model.hpp"

namespace service {

/// Simulated or recorded run of an arm, with one row per sample.
struct ArmRun {
  double period = 0.0;       ///< [s]
  Eigen::MatrixXd angles;    ///< samples × joints [rad]
  Eigen::MatrixXd rates;     ///< samples × joints [rad/s]
  Eigen::MatrixXd controls;  ///< samples × joints, constant until the next sample [N·m]
};

/// Excitation of an arm: each joint follows a sum of sines compliantly, with added dither.
struct ArmExcitation {
  std::uint64_t seed = 0;
  double duration = 0.0;   ///< of the run [s]
  double period = 0.0;     ///< sampling period [s]
  double amplitude = 0.0;  ///< root mean square of the sum of sines per joint [rad]
  double slowest = 0.0;    ///< slowest frequency of the sines [Hz]
  double fastest = 0.0;    ///< fastest frequency of the sines [Hz]
  double dither = 0.0;     ///< standard deviation of the dither relative to each control [-]
};

/// Simulates an arm with fourth-order Runge–Kutta steps, which are split when a joint stops,
/// reverses or breaks away. Dry friction keeps a resting joint at rest as long as it can.
/// @param step  maximum step [s]
ArmRun simulate_arm(const Arm& arm, const ArmExcitation& excitation, double step);

}  // namespace service
