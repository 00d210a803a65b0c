#pragma once

#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// Perfect readings still get a finite weight [rad/s, m/s²].
inline constexpr double kInertialNoiseFloor = 1e-7;

/// First guesses of how noisy inertial readings are: what their differences show, and what the
/// process noise adds, since an accelerometer reads the very accelerations that the model leaves
/// unexplained: of a white noise of density σ_a² over a sampling period T they are σ_a/√T.
///
/// Steps become no longer than a sampling period where such sensors are read: their readings are of
/// rates and accelerations, which lie between the ends of a step less well than angles.
void prepare_inertial(const Mechanism& mechanism, ShootingInput& input);

}  // namespace estimator
