#pragma once

#include "proto/text/text_edit.hpp"

namespace service {

/// Writes the bodies and hinges of a rig file's chain { } in its place, where values can differ
/// from link to link. The chain stays above them as a comment. Without a chain nothing changes.
/// @param path  for messages
/// @return whether there was a chain
/// @throws proto::InputError for a chain that cannot be
bool write_chain_out(const std::string& path, proto::TextEdit& edit);

}  // namespace service
