#pragma once

#include <string>
#include <string_view>
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

/// Checks whether a CSV header is that of a state file written by `rigcal estimate`.
bool is_state_csv(const std::vector<std::string>& header);

/// Imports a state file of `rigcal estimate` as a recording of the estimated joint positions and
/// the controls. Each original recording gives at least one segment.
/// @throws proto::InputError naming file, line and column
ImportedRecording import_state_csv(const std::string& path, std::string_view text, const Rig& rig);

/// Checks whether a CSV header is that of a file written by `rigcal-sim --truth`.
bool is_truth_csv(const std::vector<std::string>& header);

/// Imports a file of `rigcal-sim --truth`, the exact motion of a simulated rig, as a recording.
/// Rows in which the rig is held by hand are left out. Joints must be in the order of the rig file.
/// @throws proto::InputError naming file, line and column
ImportedRecording import_truth_csv(const std::string& path, std::string_view text, const Rig& rig);

/// Imports an MCAP file of `rigcal estimate` as a recording of the estimated joint positions and
/// the controls.
/// @throws proto::InputError naming the file and the remedy
ImportedRecording import_state_mcap(const std::string& path, const Rig& rig);

}  // namespace service
