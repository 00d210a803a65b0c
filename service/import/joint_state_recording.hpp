#pragma once

#include <string>
#include <vector>

#include "service/import/column_recording.hpp"
#include "service/import/csv_recording.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Reads the joint states of a bag. Times are those of the headers, since the first.
///
/// Joints are found by the columns of the rig file's recording { } where these name joints of the
/// bag ("elbow" or "elbow.position", with unit, sign and offset as stated there), else by the names
/// of the encoders. A motor's control is the column that control { } names, "elbow.effort", or,
/// where its unit is that of a torque or force, the effort of the joint with its hinge's name.
/// @throws proto::InputError naming the file and what to do
ImportedRecording import_joint_states(const std::string& path, const Rig& rig);

/// What a bag tells of its joints, with the time first: "header.stamp", "elbow", "elbow.effort".
/// @throws proto::InputError for a file that cannot be read
std::vector<NamedColumn> joint_state_columns(const std::string& path);

}  // namespace service
