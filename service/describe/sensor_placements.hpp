#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/placement.hpp"

namespace service {

/// Position and axes of a sensor other than an encoder, in the world frame.
struct SensorPlacement {
  Eigen::Vector3d at;      ///< position; for a joint's sensor, that of the joint [m]
  Eigen::Matrix3d axes;    ///< unit vectors, one per column
  Eigen::Vector3d anchor;  ///< other end of a distance sensor [m]
};

/// Returns the position and axes of a sensor. @param poses  of the bodies
SensorPlacement sensor_placement(const estimator::Mechanism& mechanism, int sensor,
                                 const estimator::Configuration& poses);

/// Describes each such sensor, its place and the directions of its axes: "tip: gyroscope and
/// accelerometer on forearm; x to the right, y up".
std::vector<std::string> describe_sensors(const estimator::Mechanism& mechanism,
                                          const estimator::Configuration& poses);

}  // namespace service
