#pragma once

#include <vector>

#include "estimator/assessment/finding.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Finds inertial sensors with exchanged or mirrored axes, or that read in another unit (g,
/// degrees). Compares their readings with rates and gravity directions computed from the encoders.
/// Reports an error only if the description leaves more than half of the readings unexplained, and
/// one correction leaves less than a tenth (sums of squares). Mounting, position and bias are taken
/// from the description; their errors are far smaller.
/// @param recordings  without readings of held-out sensors (`split_held_out_sensors`)
std::vector<Finding> find_inertial_errors(const Mechanism& mechanism,
                                          const std::vector<Recording>& recordings);

}  // namespace estimator
