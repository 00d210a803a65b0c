#pragma once

#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// Lower limit of inertial noise levels [rad/s, m/s²]; it keeps the weight of perfect readings
/// finite.
inline constexpr double kInertialNoiseFloor = 1e-7;

/// Sets the initial noise levels of inertial readings from differences of the readings and from the
/// process noise. Accelerometers also measure unmodelled accelerations: white noise of density σ_a²
/// averaged over a sampling period T has the standard deviation σ_a/√T.
///
/// If inertial sensors are used, integration steps are limited to a sampling period. Within a step,
/// rates and accelerations are less accurate than angles.
void prepare_inertial(const Mechanism& mechanism, ShootingInput& input);

}  // namespace estimator
