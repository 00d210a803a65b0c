#pragma once

#include <string>

#include "service/rig/robot/robot.hpp"

namespace service {

/// Fixes all joints that are neither in `choice.joints` nor mimic such a joint, and lists them in a
/// note. Joints without a position in `choice.positions` are fixed at zero, or at the position that
/// follows from the joint they mimic. Loops that contain a fixed joint are left out. Does nothing
/// without `choice.joints`.
/// @throws proto::InputError if a name is not the name of a moving joint, if the joint mimics a
///         joint that is not selected, or for the position of a joint that is not fixed
/// @return  names of the fixed joints, as in the note; empty if there are none
std::string select_moving_joints(Robot& robot, const RobotConversionOptions& choice);

/// Multiplies all lengths of a robot: positions, and the coordinates of its prismatic joints.
void scale_lengths(Robot& robot, double factor);

/// Multiplies the inertias of all links.
void scale_inertias(Robot& robot, double factor);

/// Corrects values of a robot that are impossible, and adds a note for each. Omits empty ranges,
/// negative friction and negative limits. A physically inconsistent inertia becomes the nearest
/// consistent one.
void correct_impossible_values(Robot& robot);

/// Adds notes if the lengths or inertias of a robot are probably not in m or kg·m², judged by their
/// typical sizes and the radius of gyration of the links.
void note_probable_units(Robot& robot);

}  // namespace service
