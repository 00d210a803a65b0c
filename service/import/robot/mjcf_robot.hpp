#pragma once

#include <string>

#include "service/import/robot/robot.hpp"

namespace service {

/// Reads a MuJoCo model (MJCF): bodies with inertials, joint, slide and free joints, defaults,
/// motors, gravity, and connections that close a loop by a joint. Geometry, contacts, sensors and
/// visuals are skipped; other unsupported elements are noted.
/// @param path  for messages
/// @throws proto::InputError "FILE:LINE: message; remedy", also for masses that only MuJoCo can
///         compute from geometry
Robot parse_mjcf(const std::string& path, const std::string& text);

}  // namespace service
