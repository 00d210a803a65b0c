#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "estimator/diagnostics/signal_examination.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Checks that a joint has no fields of another type: a torque of a prismatic joint, counts per
/// turn of one that does not turn, friction of a fixed joint.
/// @throws proto::InputError with the field and its replacement
void check_joint_fields(const rigcal::v1::Joint& joint, const proto::TextLocator& place);

/// Returns the type of a joint that moves.
/// @throws proto::InputError listing the valid types
estimator::JointKind joint_kind_of(const rigcal::v1::Joint& joint, const proto::TextLocator& place);

bool is_called(const estimator::JointField& field, std::string_view name);

/// Returns the number in a field, 0 if missing.
double number_of(const google::protobuf::Message& message, const std::string& field);

/// The same for a field whose name depends on the joint type.
/// @param field   its name, without the suffix `behind`
/// @throws proto::InputError if the name for another type is given
double number_of(const google::protobuf::Message& message, const estimator::JointTraits& is,
                 const char* estimator::JointTraits::*field, const std::string& behind,
                 const proto::TextLocator& place);

/// Field of a friction law: its message, location and name.
struct FrictionField {
  const google::protobuf::Message* message;
  proto::TextLocator place;
  const char* name;
  estimator::JointQuantity quantity = {};
  bool for_prismatic = true, for_revolute = true;  // joint types that have it

  bool is_of(const estimator::JointTraits& joint) const {
    return joint.turns ? for_revolute : for_prismatic;
  }
};

/// Returns the fields of all friction laws.
/// @param place  location of friction { }
std::vector<FrictionField> friction_fields(const rigcal::v1::Friction& friction,
                                           const proto::TextLocator& place);

/// Returns the safety limits of the joint that a sensor reads; zeros if there are none.
estimator::SensorLimits limits_of(const rigcal::v1::Safety& safety,
                                  const estimator::Encoder& sensor);

}  // namespace service
