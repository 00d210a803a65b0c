#pragma once

#include <string>
#include <vector>

#include "service/rig/rig_file.hpp"
#include "service/rig/robot/robot.hpp"

namespace service {

/// Options for converting a robot description to a rig file.
struct RobotImport {
  std::string source;     ///< name of the source file for the first line of the rig file
  bool floating = false;  ///< the base moves freely; if false, it is fixed to the ground
  bool friction = true;   ///< estimate viscous and dry friction of every joint
};

/// Rig file made from a robot description, with notes on contents that were left out.
struct ConvertedRig {
  std::string text;
  std::vector<std::string> notes;
};

/// Converts a robot to the text of a valid rig file (proto/rig.proto).
///
/// A link becomes a body with the same frame, in which the centre of mass is a point. The world's
/// vertical axis z becomes y. A massless link is merged with the link to which it is fixed, kept
/// between two joints, or left out if it carries nothing.
/// @throws proto::InputError if no moving link has mass
ConvertedRig convert_robot(Robot robot, const RobotImport& choice);

/// Converts a rig to a robot. Bodies become links, and the ground becomes the root link "world".
/// The notes list properties that robot descriptions cannot represent, one sentence each. Examples
/// are friction that decreases with speed or depends on load, delays, and encoder offsets.
Robot make_robot(const Rig& rig);

}  // namespace service
