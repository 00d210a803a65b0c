#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "estimator/doctor/signal_examination.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/model/sensor.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Refuses fields of a joint that belong to one of another kind: a torque of what slides, counts of
/// a turn of what has none, friction of what is fixed.
/// @throws proto::InputError naming the field and the one to write instead
void check_joint_fields(const rigcal::v1::Hinge& joint, const proto::TextLocator& place);

/// The kind of a joint that moves.
/// @throws proto::InputError with the words that may stand there
estimator::JointKind joint_kind_of(const rigcal::v1::Hinge& joint, const proto::TextLocator& place);

bool is_called(const estimator::JointField& field, std::string_view name);

/// The number in a field, 0 where it is left out.
double number_of(const google::protobuf::Message& message, const std::string& field);

/// The same of a field that joints of each kind have by a name of their own.
/// @param field   what it is called, but for `behind`
/// @throws proto::InputError where one of another kind is given
double number_of(const google::protobuf::Message& message, const estimator::JointTraits& is,
                 const char* estimator::JointTraits::*field, const std::string& behind,
                 const proto::TextLocator& place);

/// A field of a friction law, in the message that holds it, and where that stands.
struct FrictionField {
  const google::protobuf::Message* message;
  proto::TextLocator place;
  const char* name;
  estimator::HingeQuantity quantity = {};
  bool of_slides = true, of_hinges = true;  // which joints have it

  bool is_of(const estimator::JointTraits& joint) const {
    return joint.turns ? of_hinges : of_slides;
  }
};

/// Those of all laws.
/// @param place  of the friction
std::vector<FrictionField> friction_fields(const rigcal::v1::Friction& friction,
                                           const proto::TextLocator& place);

/// What the safety section says of the joint that a sensor reads; nothing where it does not.
estimator::SensorLimits limits_of(const rigcal::v1::Safety& safety,
                                  const estimator::Sensor& sensor);

}  // namespace service
