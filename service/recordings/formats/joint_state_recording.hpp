#pragma once

#include <string>
#include <vector>

#include "service/recordings/column_recording.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Imports the joint states of a ROS bag. Times are header stamps relative to the first stamp.
///
/// Columns of the rig file's recording { } name joints of the bag, e.g. "elbow" or
/// "elbow.position", with unit, sign and offset. If they do not, joints are matched to encoders by
/// name. The control of a motor is the column that control { } names, e.g. "elbow.effort". Without
/// it, it is the effort of the motor's joint, provided that the control unit is a torque or force.
/// @throws proto::InputError naming the file and the remedy
ImportedRecording import_joint_states(const std::string& path, const Rig& rig);

/// Returns the joint data of a ROS bag as columns, e.g. "header.stamp", "elbow", "elbow.effort".
/// The time is first.
/// @throws proto::InputError if the file cannot be read
std::vector<NamedColumn> joint_state_columns(const std::string& path);

}  // namespace service
