#pragma once

#include <string>

#include "service/rig/robot/robot.hpp"

namespace service {

/// Parses the text of a URDF file. It reads links, inertials, and joints with their limits,
/// dynamics and mimic elements. Geometry, materials and simulator extensions are skipped.
/// @param path  name of the file for messages
/// @throws proto::InputError "FILE:LINE: message; remedy" if the text is not a URDF, the links do
///         not form a tree, or a joint type is not supported
Robot parse_urdf(const std::string& path, const std::string& text);

}  // namespace service
