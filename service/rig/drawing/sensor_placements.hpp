#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/placement.hpp"

namespace service {

/// Position and axes of a sensor that is not an encoder, in the world frame.
struct SensorPlacement {
  Eigen::Vector3d at;      ///< position of the sensor, or of its joint [m]
  Eigen::Matrix3d axes;    ///< unit vectors of the sensor's axes, one per column
  Eigen::Vector3d anchor;  ///< other end of the wire of a distance sensor [m]
};

/// Returns the position and axes of a sensor.
/// @param poses  poses of the bodies
SensorPlacement sensor_placement(const estimator::Mechanism& mechanism, int sensor,
                                 const estimator::Configuration& poses);

/// Returns a sentence for each sensor that is not an encoder, with its position and the directions
/// of its axes, e.g. "tip: gyroscope and accelerometer on forearm; x to the right, y up".
std::vector<std::string> describe_sensors(const estimator::Mechanism& mechanism,
                                          const estimator::Configuration& poses);

}  // namespace service
