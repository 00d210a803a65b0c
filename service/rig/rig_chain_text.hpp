#pragma once

#include "proto/text/text_edit.hpp"

namespace service {

/// Replaces chain { } in the text of a rig file by bodies and joints, so that values can differ
/// between links. The text of chain { } stays above them as a comment. A file without chain { }
/// does not change.
/// @param path  name of the file for messages
/// @return whether the file has chain { }
/// @throws proto::InputError for an invalid chain { }
bool expand_chain_text(const std::string& path, proto::TextEdit& edit);

}  // namespace service
