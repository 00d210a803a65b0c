#pragma once

#include <string>

#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Imports a recording from a file. The name and the contents determine the format:
///   *.mcap, *.mcap.part   of rigcal-daq or rigcal estimate, or a ROS 2 bag with
///                         sensor_msgs/msg/JointState
///   *.mat                 of rigcal export, or with the rig file's columns as variables
///   anything else         CSV with the columns of the rig file's recording { }; without these
///                         columns, CSV of rigcal export, simulate or estimate, or of
///                         rigcal-sim --truth
/// @throws proto::InputError naming the file and the remedy
ImportedRecording import_recording(const std::string& path, const Rig& rig);

/// Returns the recording format with the default column names t_s, <encoder>_rad and
/// <joint>_control, which `rigcal simulate` writes.
RecordingFormat plain_format(const Rig& rig);

}  // namespace service
