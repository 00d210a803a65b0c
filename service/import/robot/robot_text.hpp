#pragma once

#include <string>
#include <vector>

#include "service/import/robot/robot.hpp"

namespace service {

/// A robot's description, and what the format has no place for, a sentence each.
struct RobotText {
  std::string text;
  std::vector<std::string> notes;
};

/// Writes a robot as a URDF file, whose link frames lie on the axes that carry them.
/// @param remarks  lines of a comment at the file's head
RobotText urdf_text(const Robot& robot, const std::vector<std::string>& remarks);

/// Writes a robot as a MuJoCo model (MJCF). Links without mass become joints of the body that they
/// carry, as MuJoCo wants it, and a hinge that closes a loop two points that stay together.
RobotText mjcf_text(const Robot& robot, const std::vector<std::string>& remarks);

}  // namespace service
