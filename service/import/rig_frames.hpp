#pragma once

#include <Eigen/Core>
#include <string>

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Returns the index of a body by name, or Joint::kGround if that is allowed.
/// @param field  field with the name, in the message at `place`
/// @throws proto::InputError for an unknown name
int find_body(const estimator::Mechanism& mechanism, const std::string& body, const char* field,
              const proto::TextLocator& place, bool ground_allowed);

/// Returns the joint frame of one side, as a rotation into the body's frame.
/// @throws proto::InputError for a zero axis, or a zero direction parallel to it
Eigen::Matrix3d read_joint_frame(const rigcal::v1::JointSide& side,
                                 const proto::TextLocator& place);

/// Returns the axes of a sensor, as a rotation into the frame of its body or of the ground.
/// @throws proto::InputError for zero or parallel directions
Eigen::Matrix3d read_sensor_frame(const rigcal::v1::PositionSensor& sensor,
                                  const proto::TextLocator& place);
Eigen::Matrix3d read_sensor_frame(const rigcal::v1::InertialSensor& sensor,
                                  const proto::TextLocator& place);
Eigen::Matrix3d read_sensor_frame(const rigcal::v1::ForceTorqueSensor& sensor,
                                  const proto::TextLocator& place);

}  // namespace service
