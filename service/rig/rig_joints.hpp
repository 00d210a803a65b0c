#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <vector>

#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Throws an error if a joint has fields of another joint type, such as a torque for a prismatic
/// joint or friction for a fixed joint.
/// @throws proto::InputError naming the wrong field and its replacement
void check_joint_fields(const rigcal::v1::Joint& joint, const proto::TextLocator& place);

/// Reads the type of a movable joint from a rig file.
/// @throws proto::InputError listing the valid types
estimator::JointKind read_joint_kind(const rigcal::v1::Joint& joint,
                                     const proto::TextLocator& place);

/// Reads the regularization of a joint in the SPOOK stepper.
void read_constraint(const rigcal::v1::Constraint& source, estimator::Joint& joint);

/// Returns whether a joint is SPHERICAL or FREE.
bool is_compound(const rigcal::v1::Joint& joint);

/// Returns whether a joint of a rig file has a coordinate with this name. The coordinate of a
/// joint with one coordinate has the name of the joint.
bool has_coordinate(const rigcal::v1::Joint& joint, const std::string& name);

/// Returns the coordinates of a SPHERICAL or FREE joint.
/// @param sides  joint with the bodies and frames of the two sides
std::vector<estimator::Joint> make_coordinates(const rigcal::v1::Joint& source,
                                               const estimator::Joint& sides);

/// Checks that SPHERICAL and FREE joints close no loop and have the parent nearer to the ground.
/// @throws proto::InputError at the first joint that does not
void check_compound_joints(const rigcal::v1::Rig& rig, const estimator::Mechanism& mechanism,
                           const proto::TextLocator& root);

/// Reads the number in a field whose name depends on the joint type; 0 if the field is missing.
/// @param field   name of the field without the suffix `behind`
/// @throws proto::InputError if the message has the field of another joint type
double read_typed_number(const google::protobuf::Message& message, const estimator::JointTraits& is,
                         const char* estimator::JointTraits::*field, const std::string& behind,
                         const proto::TextLocator& place);

/// A field of a rig file, with the message that has it and the location of this message.
struct RigField {
  const google::protobuf::Message* message;
  proto::TextLocator place;
  const char* name;
};

/// Returns the field at a path, e.g. "motor.cogging.sine".
RigField find_rig_field(const google::protobuf::Message& message, const proto::TextLocator& place,
                        const char* path);

/// Field of a friction law.
struct FrictionField : RigField {
  estimator::JointParameter quantity = {};
  bool for_prismatic = true, for_revolute = true;  // joint types that have the field

  bool is_of(const estimator::JointTraits& joint) const {
    return joint.turns ? for_revolute : for_prismatic;
  }
};

/// Returns the fields of all friction laws in friction { } of a rig file.
/// @param place  location of friction { } in the rig file
std::vector<FrictionField> list_friction_fields(const rigcal::v1::Friction& friction,
                                                const proto::TextLocator& place);

/// Returns the safety limits of the joint that an encoder measures; 0 means no limit.
estimator::SensorLimits find_encoder_limits(const rigcal::v1::Safety& safety,
                                            const estimator::Encoder& sensor);

/// Returns why rigcal-daq refuses to drive the conversion unit of a rig file. Empty if the safety
/// limits are complete, or if the file has no section `unit`.
/// @param root  location of the rig in its file
std::string describe_incomplete_safety(const rigcal::v1::Rig& rig, const proto::TextLocator& root);

/// Returns the safety limits of a motor command. A limit of this motor takes precedence over a
/// limit of all motors.
CommandSafetyLimits find_command_limits(const rigcal::v1::Safety& safety, const std::string& motor);

/// Returns the index of the body with this name. If `ground_allowed`, the name "ground" gives
/// Joint::kGround.
/// @param field  field that holds the name, in the message at `place`
/// @throws proto::InputError for an unknown name
int find_body(const estimator::Mechanism& mechanism, const std::string& body, const char* field,
              const proto::TextLocator& place, bool ground_allowed);

/// Returns the rotation from a joint frame to the frame of one of the joint's two bodies. The x
/// axis of the joint frame is the joint axis, and its xy plane contains `zero_direction`.
/// @param has_default  whether the directions are x and y if both are missing
/// @throws proto::InputError for a zero vector, or a zero_direction parallel to the joint axis
Eigen::Matrix3d read_joint_frame(const rigcal::v1::JointSide& side, bool has_default,
                                 const proto::TextLocator& place);

/// Returns the rotation from a sensor frame to the frame of the sensor's body or of the ground.
/// @throws proto::InputError for zero or parallel directions
Eigen::Matrix3d read_sensor_frame(const google::protobuf::Message& sensor,
                                  const proto::TextLocator& place);

/// Adds the coupling of a mimic joint to the mechanism, which must have all joints.
/// @param i  index of the joint in the rig file
/// @throws proto::InputError if the joint that it mimics does not exist
void add_coupling(const rigcal::v1::Rig& rig, const proto::TextLocator& root, int i,
                  estimator::Mechanism& mechanism);

}  // namespace service
