#pragma once

#include <string>

#include "service/rig/robot/robot.hpp"

namespace service {

/// Parses the text of a MuJoCo model (MJCF). It reads bodies with inertials; hinge, slide and free
/// joints; defaults; motors; gravity; and connections that act as a joint closing a loop. Geometry,
/// contacts, sensors and visuals are skipped. Other unsupported elements are listed in the notes.
/// @param path  name of the file for messages
/// @throws proto::InputError "FILE:LINE: message; remedy", also for masses that only MuJoCo can
///         compute from geometry
Robot parse_mjcf(const std::string& path, const std::string& text);

}  // namespace service
