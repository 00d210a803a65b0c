#pragma once

#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// Lower limit of noise levels, so that perfect readings have a finite weight [rad/s, m/s²].
inline constexpr double kInertialNoiseFloor = 1e-7;

/// Sets initial noise levels of inertial readings: noise from their differences, plus a
/// contribution of the process noise. Accelerometers measure the unmodelled accelerations too;
/// white noise of density σ_a² averaged over a sampling period T gives σ_a/√T.
///
/// It also limits steps to a sampling period if such sensors are used, since rates and
/// accelerations are less accurate than angles between the ends of a step.
void prepare_inertial(const Mechanism& mechanism, ShootingInput& input);

}  // namespace estimator
