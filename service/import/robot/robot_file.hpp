#pragma once

#include <string>

#include "service/import/robot/robot.hpp"

namespace service {

/// Reads a URDF file or a MuJoCo model, whichever the text is.
/// @throws proto::InputError "FILE:LINE: what; what to do"
Robot parse_robot(const std::string& path, const std::string& text);

}  // namespace service
