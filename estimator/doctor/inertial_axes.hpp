#pragma once

#include <vector>

#include "estimator/assess/finding.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Inertial sensors whose axes are others than described (exchanged, mirrored), or that read in
/// another unit (g, degrees), by the rates and the gravity that encoders tell of their bodies. Told
/// only where the description explains less than half of what the sensor reads and one such mistake
/// nearly all. Mounting, point and bias as in the description: what these are off by is far less.
///
/// @param recordings  with the readings that are used (`set_withheld_aside`)
std::vector<Finding> find_inertial_mistakes(const Mechanism& mechanism,
                                            const std::vector<Recording>& recordings);

}  // namespace estimator
