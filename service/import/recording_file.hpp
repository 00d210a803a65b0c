#pragma once

#include <string>

#include "service/import/csv_recording.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Reads a recording of any kind:
///   *.mcap, *.mcap.part   of rigcal-daq or rigcal estimate, or a bag of ROS 2 with
///                         sensor_msgs/msg/JointState
///   *.mat                 that rigcal export wrote, or with the rig file's columns for variables
///   anything else         CSV: as the rig file's recording { } says, or, where it names other
///                         columns or there is none, that rigcal export, simulate or estimate or
///                         rigcal-sim --truth wrote
/// @throws proto::InputError naming the file and what to do
ImportedRecording import_recording(const std::string& path, const Rig& rig);

/// How `rigcal simulate` names columns where a rig file does not: t_s, <encoder>_rad,
/// <joint>_control.
RecordingFormat plain_format(const Rig& rig);

}  // namespace service
