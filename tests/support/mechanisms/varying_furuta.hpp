#pragma once

#include <Eigen/Core>

#include "estimator/signal/time_series.hpp"
#include "tests/support/reference_simulators.hpp"

namespace test_support {

/// Terms of a Furuta pendulum that change with time, or with the angle or command of its motor.
struct VaryingFuruta {
  ReferenceFuruta rig;
  double cogging_sine = 0.0, cogging_cosine = 0.0;  ///< [N·m]
  int cogging_order = 0;                            ///< periods per turn of the arm
  double friction_drift = 0.0;                      ///< of the arm [1/s]
  double gain_drift = 0.0;                          ///< [1/s]
  double gain_sag = 0.0;                            ///< [1/V]
  double vibration_sine = 0.0;  ///< acceleration of the ground along y, upward [m/s²]
  double frequency = 0.0;       ///< of the vibration [Hz]
};

/// Returns the readings of encoders with Gaussian noise [rad]. Each period is simulated in many
/// parts with constant parameters and torques, those at the middle of the part.
estimator::Recording record(const VaryingFuruta& truth, const Eigen::Vector4d& start,
                            const Eigen::VectorXd& control, double period, double noise,
                            unsigned seed);

}  // namespace test_support
