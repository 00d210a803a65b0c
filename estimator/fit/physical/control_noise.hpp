#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// One a motor: Hinge::control_noise. Empty where every control is what acted.
Eigen::VectorXd control_noise_of(const Mechanism& mechanism);

/// Lower triangular W with W S Wᵀ = 1, S the density of the accelerations that the model leaves
/// unexplained: beside σ_a² of each joint what controls do that act otherwise than recorded,
///
///   S = diag(σ_a²) + T M⁻¹ K Σ_u K M⁻ᵀ,
///
/// each held for a sampling period T, which is as white to a joint that moves slowly beside it.
/// That part goes from joint to joint by the inertias, and scales with the motors' gains. For
/// trees, whose coordinates are those of all joints.
///
/// @param acceleration  σ_a of each joint, above 0 [rad/s²/√Hz]
/// @param control       one a motor (control_noise_of)
/// @param period        T [s]
/// @param angles        where the joints stand [rad or m]
Eigen::MatrixXd acceleration_whitening(const Mechanism& mechanism,
                                       const Eigen::VectorXd& acceleration,
                                       const Eigen::VectorXd& control, double period,
                                       const Eigen::VectorXd& angles);

}  // namespace estimator
