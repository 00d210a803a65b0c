#pragma once

#include <string>
#include <vector>

#include "service/import/robot/robot.hpp"

namespace service {

/// Options for converting a robot to a rig file.
struct RobotImport {
  std::string source;     ///< name of the source file, for the first line
  bool floating = false;  ///< the base moves freely; else it is fixed to the ground
  bool friction = true;   ///< estimate viscous and dry friction of every joint
};

/// Rig file, and notes on contents of the robot's description that it lacks.
struct ConvertedRig {
  std::string text;
  std::vector<std::string> notes;
};

/// Writes a robot as a valid rig file (proto/rig.proto).
///
/// A link becomes a body with the same frame; its centre of mass is a point in it. The world's z
/// (up) becomes y. Massless links are merged with the link they are fixed to, kept between two
/// joints, or left out if they carry nothing.
/// @throws proto::InputError if no moving link has mass
ConvertedRig convert_robot(Robot robot, const RobotImport& choice);

}  // namespace service
