#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Returns mechanisms with parameter values from which to restart a fit that may have ended in a
/// local minimum. Empty if there is no sign of a local minimum.
///
/// - Parameters that reached a bound are reset to their initial values; all other parameters keep
///   their estimates.
/// - An ineffective Stribeck excess is reset. It is ineffective if it is zero, independent of speed
///   (ζ = 0), or decayed at all recorded speeds. Its new value is a tenth of the kinetic torque
///   τ_c, with decay over different fractions of the largest speed. Both signs are tried if
///   friction may increase from rest with speed.
/// - If significant process noise remains, any estimated excess is reset.
///
/// @param reached      result of the fit
/// @param start        initial values of the fit; a mechanism with the same structure
/// @param max_speed    largest speed of each joint [rad/s]
/// @param unexplained  whether significant process noise remains
std::vector<Mechanism> choose_restart_values(const Mechanism& reached, const Mechanism& start,
                                             const Eigen::VectorXd& max_speed,
                                             bool unexplained = false);

}  // namespace estimator
