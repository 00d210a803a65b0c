#pragma once

#include <Eigen/Core>
#include <string>

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Returns the index of the body with this name. For the name "ground" it returns Joint::kGround,
/// if `ground_allowed`.
/// @param field  field that holds the name, in the message at `place`
/// @throws proto::InputError for an unknown name
int find_body(const estimator::Mechanism& mechanism, const std::string& body, const char* field,
              const proto::TextLocator& place, bool ground_allowed);

/// Returns the joint frame on one of the two bodies of a joint, as the rotation from the joint
/// frame to the frame of that body. Its x axis is the joint axis; `zero_direction` lies in its xy
/// plane.
/// @throws proto::InputError for a zero vector, or a zero_direction parallel to the joint axis
Eigen::Matrix3d read_joint_frame(const rigcal::v1::JointSide& side,
                                 const proto::TextLocator& place);

/// Returns the rotation from the sensor frame to the frame of the sensor's body or of the ground.
/// @throws proto::InputError for zero or parallel directions
Eigen::Matrix3d read_sensor_frame(const google::protobuf::Message& sensor,
                                  const proto::TextLocator& place);

}  // namespace service
