#pragma once

#include "service/import/rig_file.hpp"
#include "service/import/robot/robot.hpp"

namespace service {

/// A rig as a robot: its bodies with their frames as links below one that is the ground, which is
/// called "world". Notes tell, a sentence each, what no description of a robot has a place for:
/// friction that falls with speed, that of loads, delays, offsets of encoders, and so on.
Robot robot_of(const Rig& rig);

}  // namespace service
