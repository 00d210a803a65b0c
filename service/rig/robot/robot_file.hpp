#pragma once

#include <string>

#include "service/rig/robot/robot.hpp"

namespace service {

/// Parses the text of a URDF file or a MuJoCo model. The root element determines the format.
/// @throws proto::InputError "FILE:LINE: message; remedy"
Robot parse_robot(const std::string& path, const std::string& text);

}  // namespace service
