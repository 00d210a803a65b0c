#pragma once

#include "proto/rig.pb.h"
#include "proto/text/text_edit.hpp"
#include "proto/text/text_file.hpp"

namespace service {

/// Replaces chain { }, the shorthand for a serial chain of links, by its bodies and joints.
/// @throws proto::InputError for an incomplete chain { }, or a rig with chain { } and also bodies
/// or
///         joints
void expand_chain(rigcal::v1::Rig& rig, const proto::TextLocator& place);

/// Replaces chain { } in the text of a rig file by bodies and joints, so that values can differ
/// between links. The text of chain { } stays above them as a comment. A file without chain { }
/// does not change.
/// @param path  name of the file for messages
/// @return whether the file has chain { }
/// @throws proto::InputError for an invalid chain { }
bool expand_chain_text(const std::string& path, proto::TextEdit& edit);

}  // namespace service
