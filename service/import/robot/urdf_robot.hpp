#pragma once

#include <string>

#include "service/import/robot/robot.hpp"

namespace service {

/// Reads a URDF file: links, inertials, joints with their limits, dynamics and mimicry. Shapes,
/// materials, meshes and extensions of simulators are passed over.
/// @param path  for messages
/// @throws proto::InputError "FILE:LINE: what; what to do" for what is no URDF, no tree, or has
///         joints of other types
Robot parse_urdf(const std::string& path, const std::string& text);

}  // namespace service
