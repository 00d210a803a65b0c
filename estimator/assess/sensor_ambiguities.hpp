#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Describes parameters that the sensors of a mechanism cannot identify, or only weakly, for known
/// reasons: an accelerometer's position along its body's only axis of rotation; a gyroscope's scale
/// without an encoder; bias against tilt, gravity and mounting without large rotations; heading
/// about gravity; absolute delays. One sentence each, with advice.
///
/// @param asked      indices of the free parameters
/// @param estimated  those of them with an effect on any reading
/// @param seen       information matrix of these from the data alone
std::vector<std::string> describe_sensor_ambiguities(const Mechanism& mechanism,
                                                     const std::vector<int>& requested,
                                                     const std::vector<int>& estimated,
                                                     const Eigen::MatrixXd& seen);

}  // namespace estimator
