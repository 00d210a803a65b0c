#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// What sensors of a mechanism cannot tell, or hardly, for reasons that have a name: where an
/// accelerometer sits along the one axis that its body turns about; a gyroscope's scale without an
/// encoder; bias against tilt, gravity and mounting without large rotations; heading about gravity;
/// delays but for their differences. A sentence each, with what to do.
///
/// @param asked      indices of the parameters that are asked for
/// @param estimated  those of them that any reading shows
/// @param seen       what the data alone say of these: their information matrix
std::vector<std::string> name_sensor_traps(const Mechanism& mechanism,
                                           const std::vector<int>& asked,
                                           const std::vector<int>& estimated,
                                           const Eigen::MatrixXd& seen);

}  // namespace estimator
