#pragma once

#include <vector>

#include "proto/text/csv_table.hpp"
#include "service/import/csv_recording.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Computed joint coordinates [rad or m] and controls, row by row; encoder offsets and signs are
/// not applied.
struct JointMotion {
  proto::CsvTable table;    ///< as read
  int time = 0;             ///< index of the time request [s]
  int segment = -1;         ///< index of the request whose change starts a new segment; −1: none
  std::vector<int> joints;  ///< index of each joint's request; −1: missing
  std::vector<int> controls;  ///< index of each motor's request, in its unit; −1: missing
};

/// Converts joint motion to a recording of the rig's encoders, with the offsets of the rig file.
/// @throws proto::InputError for a missing joint or motor, and as import_table
ImportedRecording import_joint_motion(const JointMotion& motion, const Rig& rig);

/// Adds a note that the recording consists of estimated states.
void note_estimated_states(ImportSummary& summary);

}  // namespace service
