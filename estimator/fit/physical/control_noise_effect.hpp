#pragma once

#include <Eigen/Core>

#include "estimator/fit/physical/shooting_input.hpp"
#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Largest negligible process noise, as a fraction of the accelerations that noise of the controls
/// causes.
inline constexpr double kNegligibleControlShare = 0.1;
/// The same fraction for prescribed motions. Readings determine most of their slow accelerations,
/// so even a small process noise has an effect: with the fraction 0.1, intervals were four times
/// too wide.
inline constexpr double kNegligiblePrescribedShare = 1e-3;

/// Returns the variance of each joint coordinate due to encoder noise [rad²].
/// @param noise  standard deviation of each encoder's readings [rad or m]
Eigen::VectorXd joint_angle_variances(const Mechanism& mechanism, const Eigen::VectorXd& noise);

/// Computes the accelerations due to noise of the recorded controls, and limits the time between
/// shooting nodes. Process noise acts only at nodes. These accelerations therefore cause a common
/// error of all readings between two nodes. This common error must be small compared with the error
/// of the mean of these readings. Nodes are at least two samples apart.
void account_for_control_noise(const Mechanism& mechanism, ShootingInput& input);

}  // namespace estimator
