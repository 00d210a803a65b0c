#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/placement.hpp"

namespace service {

/// Where a sensor beside the encoders sits and looks, in the world frame.
struct SensorMark {
  Eigen::Vector3d at;      ///< its point; of what a joint carries, the joint's [m]
  Eigen::Matrix3d axes;    ///< one a column, unit
  Eigen::Vector3d anchor;  ///< of a distance: the other end [m]
};

/// @param poses  of the bodies
SensorMark mark_of(const estimator::Mechanism& mechanism, int sensor,
                   const estimator::Configuration& poses);

/// Of each such sensor what it reads, where, and which way its axes point: "tip: gyroscope and
/// accelerometer on forearm; x to the right, y up".
std::vector<std::string> sensor_words(const estimator::Mechanism& mechanism,
                                      const estimator::Configuration& poses);

}  // namespace service
