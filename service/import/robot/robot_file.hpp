#pragma once

#include <string>

#include "service/import/robot/robot.hpp"

namespace service {

/// Reads a URDF file or a MuJoCo model; the root element decides.
/// @throws proto::InputError "FILE:LINE: message; remedy"
Robot parse_robot(const std::string& path, const std::string& text);

}  // namespace service
