#pragma once

#include "proto/rig.pb.h"
#include "proto/text/text_edit.hpp"
#include "proto/text/text_file.hpp"

namespace service {

/// Replaces chain { } of a rig, the shorthand for a serial chain of links, by bodies and joints.
/// @throws proto::InputError for an incomplete chain { }, and for a rig with both chain { } and
///         bodies or joints
void expand_link_chain(rigcal::v1::Rig& rig, const proto::TextLocator& place);

/// Replaces chain { } in the text of a rig file by bodies and joints, so that links can have
/// different values. The text of chain { } becomes a comment. A file without chain { } does not
/// change.
/// @param path  name of the file for messages
/// @return whether the file has chain { }
bool expand_link_chain_text(const std::string& path, proto::TextEdit& edit);

}  // namespace service
