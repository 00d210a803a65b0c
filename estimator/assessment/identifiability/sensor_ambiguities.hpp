#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/messages/message.hpp"
#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Returns one note, with advice, for each known reason why the sensors cannot identify
/// parameters, or identify them only weakly: an accelerometer's position along its body's only axis
/// of rotation; a gyroscope's scale without an encoder; bias against tilt, gravity and mounting
/// without large rotations; heading about gravity; absolute delays.
/// @param requested  indices of the free parameters
/// @param estimated  indices of the free parameters that affect any reading
/// @param seen       information matrix of the estimated parameters from the data without priors
std::vector<Message> describe_sensor_ambiguities(const Mechanism& mechanism,
                                                 const std::vector<int>& requested,
                                                 const std::vector<int>& estimated,
                                                 const Eigen::MatrixXd& seen);

}  // namespace estimator
