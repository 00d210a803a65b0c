#pragma once

#include <Eigen/Core>

#include "estimator/fit/physical/shooting_input.hpp"
#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Process noise that is negligible compared with the accelerations due to noise of the controls,
/// as a fraction of these accelerations.
inline constexpr double kNegligibleControlShare = 0.1;
/// The same for prescribed motions. Readings determine their slow accelerations, so that process
/// noise counts beside a small rest of the noise: with 0.1, intervals were four times too wide.
inline constexpr double kNegligiblePrescribedShare = 1e-3;

/// Returns the variance of each joint coordinate that noise of the encoders causes [rad²].
/// @param noise  standard deviation of each encoder's readings [rad or m]
Eigen::VectorXd joint_angle_variances(const Mechanism& mechanism, const Eigen::VectorXd& noise);

/// Computes the accelerations due to noise of the recorded controls, and limits the time between
/// shooting nodes. Process noise acts only at nodes, so these accelerations cause a common error of
/// the readings between two nodes, which must be small beside the error of their mean. Nodes are at
/// least two samples apart.
void account_for_control_noise(const Mechanism& mechanism, ShootingInput& input);

}  // namespace estimator
