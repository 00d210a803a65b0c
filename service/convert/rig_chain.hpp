#pragma once

#include "proto/rig.pb.h"
#include "service/convert/text_file.hpp"

namespace service {

/// Replaces the `chain` shortcut of a rig by the bodies and hinges it stands for.
/// @throws InputError when the chain is incomplete or stands beside bodies or hinges
void expand_chain(rigcal::v1::Rig& rig, const TextLocator& place);

}  // namespace service
