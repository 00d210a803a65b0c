#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "service/study/arm_model.hpp"

namespace service {

/// A run of an arm, one row a sample.
struct ArmRun {
  double period = 0.0;       ///< [s]
  Eigen::MatrixXd angles;    ///< samples × joints [rad]
  Eigen::MatrixXd rates;     ///< likewise [rad/s]
  Eigen::MatrixXd controls;  ///< likewise, held until the next sample [N·m]
};

/// How an arm is moved: every joint follows a sum of sines, softly, and is shaken besides.
struct ArmExcitation {
  std::uint64_t seed = 0;
  double duration = 0.0;   ///< [s]
  double period = 0.0;     ///< from sample to sample [s]
  double amplitude = 0.0;  ///< of the sum of sines, its root mean square [rad]
  double slowest = 0.0;    ///< of the sines [Hz]
  double fastest = 0.0;    ///< [Hz]
  double dither = 0.0;     ///< standard deviation of what is added to each control, by its size [-]
};

/// Simulates with Runge–Kutta steps of fourth order, cut where a joint stops, reverses or breaks
/// loose: dry friction holds a joint that stands as long as it can.
/// @param step  at most so long [s]
ArmRun simulate_arm(const Arm& arm, const ArmExcitation& excitation, double step);

}  // namespace service
