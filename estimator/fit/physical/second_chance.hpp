#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Mechanisms to fit once more from, where a fit ended at values from which there is no way back
/// although the data may know better. Empty where it did not.
///
/// - Parameters that were driven to a bound, back at their start, now that all others are good.
/// - A Stribeck excess that is lost: zero, the same at every speed (ζ = 0, then no more than a part
///   of τ_c), or gone at any speed the recordings show. Once more with a tenth of τ_c, of either
///   sign where friction may rise from rest, which decays over different shares of the fastest
///   speed. Likewise any excess that is estimated where the fit leaves accelerations unexplained.
///
/// @param reached  where the fit ended
/// @param start    where it began; a mechanism of the same build
/// @param fastest  the fastest speed of each hinge [rad/s]
/// @param unexplained  whether accelerations are left unexplained
std::vector<Mechanism> second_chances(const Mechanism& reached, const Mechanism& start,
                                      const Eigen::VectorXd& fastest, bool unexplained = false);

}  // namespace estimator
