#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "tests/studies/arm/arm_model.hpp"

namespace service {

/// A run of an arm, one row per sample.
struct ArmRun {
  double period = 0.0;       ///< [s]
  Eigen::MatrixXd angles;    ///< samples × joints [rad]
  Eigen::MatrixXd rates;     ///< likewise [rad/s]
  Eigen::MatrixXd controls;  ///< likewise, constant until the next sample [N·m]
};

/// Excitation of an arm: every joint follows a sum of sines compliantly, with added dither.
struct ArmExcitation {
  std::uint64_t seed = 0;
  double duration = 0.0;   ///< [s]
  double period = 0.0;     ///< sampling period [s]
  double amplitude = 0.0;  ///< root mean square of the sum of sines [rad]
  double slowest = 0.0;    ///< of the sines [Hz]
  double fastest = 0.0;    ///< [Hz]
  double dither = 0.0;     ///< standard deviation of the dither relative to each control [-]
};

/// Simulates with fourth-order Runge–Kutta steps, split where a joint stops, reverses or breaks
/// away. Dry friction holds a resting joint as long as it can.
/// @param step  maximum step [s]
ArmRun simulate_arm(const Arm& arm, const ArmExcitation& excitation, double step);

}  // namespace service
