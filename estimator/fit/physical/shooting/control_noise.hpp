#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Returns the standard deviation of the recorded control of each motor (Motor::control_noise).
/// Empty if no recorded control has noise.
Eigen::VectorXd motor_control_noise(const Mechanism& mechanism);

/// Returns the standard deviation of the control of each motor in these segments. For a recorded
/// control it is the value in the mechanism. For a prescribed acceleration it is the root mean
/// square of the values of the segments (Segment::control_noise). Empty if all controls are exact.
/// In mechanisms with loops, prescribed accelerations count as exact.
Eigen::VectorXd control_noise_levels(const Mechanism& mechanism,
                                     const std::vector<Segment>& segments);

/// The noise of a mechanism's recorded controls as noise of its accelerations.
class ControlNoiseModel {
 public:
  /// @param control  standard deviations of controls, as returned by motor_control_noise
  /// @param period   sampling period T [s]
  ControlNoiseModel(const Mechanism& mechanism, const Eigen::VectorXd& control, double period);

  /// Returns the spectral density T M⁻¹ K Σ_u Kᵀ M⁻ᵀ of the accelerations, joints × joints. Symbols
  /// are as for `compute_acceleration_whitening`.
  /// @param angles  joint coordinates [rad or m]
  Eigen::MatrixXd density(const Eigen::VectorXd& angles);

 private:
  TreeInverseDynamics<double> dynamics_;
  std::vector<int> motors_;
  Eigen::VectorXd control_;
  double period_;
};

/// Computes the lower triangular matrix W that whitens unmodelled accelerations: W S Wᵀ = 1. The
/// spectral density of these accelerations is
///
///   S = diag(σ_a²) + T M⁻¹ K Σ_u Kᵀ M⁻ᵀ.
///
/// The second term is the noise of recorded controls, with the mass matrix M, the torques K per
/// unit of the controls and the variances Σ_u of the controls. A prescribed acceleration causes
/// torques at all joints, a motor at its own. Controls are constant for a sampling period T, so
/// their noise is practically white for slow joints. Supports only trees, where all joints are
/// independent.
///
/// @param acceleration  σ_a of each joint, > 0 [rad/s²/√Hz]
/// @param angles        joint coordinates [rad or m]
Eigen::MatrixXd compute_acceleration_whitening(ControlNoiseModel& noise,
                                               const Eigen::VectorXd& acceleration,
                                               const Eigen::VectorXd& angles);

}  // namespace estimator
