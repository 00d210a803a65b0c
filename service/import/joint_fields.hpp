#pragma once

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

/// A field of a friction law, in the message that holds it, and where that stands.
struct FrictionField {
  const google::protobuf::Message* message;
  proto::TextLocator place;
  const char* name;
  estimator::HingeQuantity quantity = {};
  bool of_slides = true, of_hinges = true;  // which joints have it
};

/// Those of all laws.
/// @param place  of the friction
std::vector<FrictionField> friction_fields(const rigcal::v1::Friction& friction,
                                           const proto::TextLocator& place);

/// What the safety section says of the joint that a sensor reads; nothing where it does not.
estimator::SensorLimits limits_of(const rigcal::v1::Safety& safety,
                                  const estimator::Sensor& sensor);

}  // namespace service
