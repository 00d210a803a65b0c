#pragma once

#include "proto/text/text_edit.hpp"

namespace service {

/// Replaces chain { } in a rig file by bodies and joints, whose values can differ between links.
/// The chain stays above them as a comment. Nothing changes without a chain.
/// @param path  for messages
/// @return whether there was a chain
/// @throws proto::InputError for an invalid chain
bool expand_chain_text(const std::string& path, proto::TextEdit& edit);

}  // namespace service
