#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Mechanisms for restarts of a fit that may have ended in a local minimum; empty otherwise.
///
/// - Parameters that reached a bound are reset to their initial values, with all others as
/// estimated.
/// - A Stribeck excess without effect is reset: it is zero, independent of speed (ζ = 0, then
/// limited to a fraction of τ_c), or decayed at all recorded speeds. Restarts use a tenth of τ_c,
/// of either sign if friction may rise from rest, that decays over different fractions of the
/// fastest speed. The same for any estimated excess if accelerations remain unexplained.
///
/// @param reached  result of the fit
/// @param start    its initial values; a mechanism with the same structure
/// @param fastest  the fastest speed of each joint [rad/s]
/// @param unexplained  whether significant process noise remains
std::vector<Mechanism> restart_candidates(const Mechanism& reached, const Mechanism& start,
                                          const Eigen::VectorXd& max_speed,
                                          bool unexplained = false);

}  // namespace estimator
