#pragma once

#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Replaces the `chain` shortcut of a rig by its bodies and joints.
/// @throws proto::InputError for an incomplete chain, or one next to bodies or joints
void expand_chain(rigcal::v1::Rig& rig, const proto::TextLocator& place);

}  // namespace service
