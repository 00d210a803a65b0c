#pragma once

#include <string>
#include <vector>

#include "service/import/column_recording.hpp"
#include "service/import/csv_recording.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Imports the joint states of a ROS bag. Times are header stamps, relative to the first.
///
/// Joints are matched by the columns of the rig file's recording { } if these are joints of the bag
/// ("elbow" or "elbow.position", with unit, sign and offset), else by the names of the encoders. A
/// motor's control is the column of control { }, "elbow.effort", or, if its unit is a torque or
/// force, the effort of the joint with its name.
/// @throws proto::InputError with the file and the remedy
ImportedRecording import_joint_states(const std::string& path, const Rig& rig);

/// Returns a bag's columns, time first: "header.stamp", "elbow", "elbow.effort".
/// @throws proto::InputError if the file cannot be read
std::vector<NamedColumn> joint_state_columns(const std::string& path);

}  // namespace service
