#pragma once

#include "service/import/rig_file.hpp"
#include "service/import/robot/robot.hpp"

namespace service {

/// Converts a rig to a robot: bodies become links, below a link "world" for the ground. Notes list,
/// one sentence each, what robot descriptions cannot represent: friction that decreases with speed
/// or depends on load, delays, encoder offsets, and so on.
Robot make_robot(const Rig& rig);

}  // namespace service
