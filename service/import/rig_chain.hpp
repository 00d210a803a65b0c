#pragma once

#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Replaces the `chain` shortcut of a rig by the bodies and hinges it stands for.
/// @throws proto::InputError when the chain is incomplete or stands beside bodies or hinges
void expand_chain(rigcal::v1::Rig& rig, const proto::TextLocator& place);

}  // namespace service
