#pragma once

#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Replaces chain { }, the shorthand for a serial chain of links, by its bodies and joints.
/// @throws proto::InputError for an incomplete chain { }, or a rig with chain { } and also bodies
/// or
///         joints
void expand_chain(rigcal::v1::Rig& rig, const proto::TextLocator& place);

}  // namespace service
