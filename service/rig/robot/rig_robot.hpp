#pragma once

#include "service/rig/rig_file.hpp"
#include "service/rig/robot/robot.hpp"

namespace service {

/// Converts a rig to a robot. Bodies become links, and the ground becomes the root link "world".
/// The notes list properties that robot descriptions cannot represent, one sentence each. Examples
/// are friction that decreases with speed or depends on load, delays, and encoder offsets.
Robot make_robot(const Rig& rig);

}  // namespace service
