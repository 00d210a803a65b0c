#pragma once

#include <string>
#include <vector>

#include "service/import/robot/robot.hpp"

namespace service {

/// Robot description, and notes on what its format cannot represent, one sentence each.
struct RobotText {
  std::string text;
  std::vector<std::string> notes;
};

/// Writes a robot as a URDF file, with link frames on the axes of their joints.
/// @param remarks  lines of a comment at the beginning of the file
RobotText urdf_text(const Robot& robot, const std::vector<std::string>& remarks);

/// Writes a robot as a MuJoCo model (MJCF). Joints of a massless link are passed on to the body
/// that it carries, as MuJoCo requires. A joint that closes a loop becomes two connected points.
RobotText mjcf_text(const Robot& robot, const std::vector<std::string>& remarks);

}  // namespace service
