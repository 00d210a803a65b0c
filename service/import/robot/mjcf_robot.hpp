#pragma once

#include <string>

#include "service/import/robot/robot.hpp"

namespace service {

/// Reads a MuJoCo model (MJCF): bodies with their inertials, joints that turn, slide or are free,
/// defaults, motors, gravity, and connections that close a loop by a hinge. Shapes, contacts,
/// sensors and looks are passed over; what else the model has and a robot here has not is noted.
/// @param path  for messages
/// @throws proto::InputError "FILE:LINE: what; what to do", also for masses that only MuJoCo
///         computes from shapes
Robot parse_mjcf(const std::string& path, const std::string& text);

}  // namespace service
