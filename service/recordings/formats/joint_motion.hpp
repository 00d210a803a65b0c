#pragma once

#include <vector>

#include "proto/text/csv_table.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Table of computed joint coordinates [rad or m] and controls, one row per time. Encoder offsets
/// and signs are not applied.
struct JointMotion {
  proto::CsvTable table;      ///< requested columns
  int time = 0;               ///< index of the time column [s]
  int segment = -1;           ///< index of the column whose changes start a segment; −1 if none
  std::vector<int> joints;    ///< index of each joint's column; −1 if missing
  std::vector<int> controls;  ///< index of each motor's column; −1 if missing
};

/// Converts computed joint motion to a recording of the rig's encoders. Encoder readings include
/// the offsets in the rig file.
/// @throws proto::InputError for a missing joint or motor, or like import_table
ImportedRecording import_joint_motion(const JointMotion& motion, const Rig& rig);

/// Adds a note that the recording consists of estimated states.
void note_estimated_states(ImportSummary& summary);

}  // namespace service
