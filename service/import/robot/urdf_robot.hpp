#pragma once

#include <string>

#include "service/import/robot/robot.hpp"

namespace service {

/// Reads a URDF file: links, inertials, joints with limits, dynamics and mimicry. Geometry,
/// materials and simulator extensions are skipped.
/// @param path  for messages
/// @throws proto::InputError "FILE:LINE: message; remedy" if it is not a URDF, is not a tree, or
///         has unsupported joint types
Robot parse_urdf(const std::string& path, const std::string& text);

}  // namespace service
