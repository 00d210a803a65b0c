#pragma once

#include <string>
#include <vector>

#include "service/rig/robot/robot.hpp"

namespace service {

/// Parses the text of a URDF file or a MuJoCo model. The root element determines the format.
/// @throws proto::InputError "FILE:LINE: message; remedy"
Robot parse_robot(const std::string& path, const std::string& text);

/// Parses the text of a URDF file. It reads links, inertials, and joints with their limits,
/// dynamics and mimic elements. Geometry, materials and simulator extensions are skipped.
/// @param path  name of the file for messages
/// @throws proto::InputError "FILE:LINE: message; remedy" if the text is not a URDF, the links do
///         not form a tree, or a joint type is not supported
Robot parse_urdf(const std::string& path, const std::string& text);

/// Parses the text of a MuJoCo model (MJCF). It reads bodies with inertials; hinge, slide and free
/// joints; defaults; motors; gravity; and connections that act as a joint closing a loop. Geometry,
/// contacts, sensors and visuals are skipped. Other unsupported elements are listed in the notes.
/// @param path  name of the file for messages
/// @throws proto::InputError "FILE:LINE: message; remedy", also for masses that only MuJoCo can
///         compute from geometry
Robot parse_mjcf(const std::string& path, const std::string& text);

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
