#pragma once

#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Gives each joint with a prescribed motion a motor whose control is the joint's acceleration. The
/// rotor of this motor is so heavy that the bodies of the rig do not affect its motion.
/// @throws proto::InputError for a prescribed joint that is fixed, has a motor, friction or end
///         stops, or has no encoder
void expand_prescribed_joints(rigcal::v1::Rig& rig, const proto::TextLocator& root);

}  // namespace service
