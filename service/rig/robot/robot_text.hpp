#pragma once

#include <string>
#include <vector>

#include "service/rig/robot/robot.hpp"

namespace service {

/// Text of a robot description file. The notes list the properties of the robot that its format
/// cannot represent, one sentence each.
struct RobotText {
  std::string text;
  std::vector<std::string> notes;
};

/// Returns a robot as the text of a URDF file. The origin of a link frame is on the axis of the
/// link's joint.
/// @param remarks  lines of the comment at the beginning of the file
RobotText urdf_text(const Robot& robot, const std::vector<std::string>& remarks);

/// Returns a robot as the text of a MuJoCo model (MJCF). MuJoCo requires moving bodies to have
/// mass, so joints of a massless link move to the body that the link carries. A joint that closes a
/// loop becomes a connection of two bodies at two points.
RobotText mjcf_text(const Robot& robot, const std::vector<std::string>& remarks);

}  // namespace service
