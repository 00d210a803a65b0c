#pragma once

#include <string>
#include <vector>

#include "service/import/robot/robot.hpp"

namespace service {

/// How a robot stands, and what recordings of it are called.
struct RobotImport {
  std::string source;     ///< name of the file, for the first line of the rig file
  bool floating = false;  ///< the base moves freely; else it is part of the ground
  bool friction = true;   ///< viscous and dry friction of every joint are to be estimated
};

/// A rig file, and what it does not say that the robot's description does.
struct RigText {
  std::string text;
  std::vector<std::string> notes;
};

/// Writes a robot as a rig file (proto/rig.proto) that loads as it is.
///
/// A link becomes a body with its frame where the description has it, the centre of mass as a point
/// in it. World z of a description points up, as y of rig files does. Links without mass become
/// part of what they are fixed to, stand between two axes, or are left out where they carry
/// nothing.
/// @throws proto::InputError where nothing that has mass moves
RigText write_rig(Robot robot, const RobotImport& choice);

}  // namespace service
