#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Joint::control_noise, one per motor. Empty if no recorded control has noise.
Eigen::VectorXd control_noise_of(const Mechanism& mechanism);

/// Lower triangular W with W S Wᵀ = 1, where S is the spectral density of unmodelled accelerations.
/// Besides σ_a² of each joint it includes the noise of the recorded controls,
///
///   S = diag(σ_a²) + T M⁻¹ K Σ_u K M⁻ᵀ.
///
/// Control noise is held for a sampling period T, so it is practically white for a slowly moving
/// joint. Its effect is coupled between joints by the inertias and proportional to the motor gains.
/// For trees only, where all joints are independent.
///
/// @param acceleration  σ_a of each joint, > 0 [rad/s²/√Hz]
/// @param control       one per motor (control_noise_of)
/// @param period        T [s]
/// @param angles        joint coordinates [rad or m]
Eigen::MatrixXd acceleration_whitening(const Mechanism& mechanism,
                                       const Eigen::VectorXd& acceleration,
                                       const Eigen::VectorXd& control, double period,
                                       const Eigen::VectorXd& angles);

}  // namespace estimator
