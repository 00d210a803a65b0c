#pragma once

#include <vector>

#include "proto/text/csv_table.hpp"
#include "service/import/csv_recording.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Where joints were and what drove motors, row by row, as a program computed it: coordinates of
/// joints [rad or m], with nothing of an encoder's zero or sign.
struct JointMotion {
  proto::CsvTable table;      ///< as it was read
  int time = 0;               ///< request of the time [s]
  int segment = -1;           ///< whose change starts a new segment; −1: none
  std::vector<int> joints;    ///< request of each joint of the rig, −1: not told
  std::vector<int> controls;  ///< of each motor, in its unit
};

/// What the rig's encoders would have read of it, by the zeros that the rig file states, as a
/// recording.
/// @throws proto::InputError for a joint or motor that is not told, and as import_table
ImportedRecording import_joint_motion(const JointMotion& motion, const Rig& rig);

/// Tells that a recording is of estimated states.
void note_estimated(ImportSummary& summary);

}  // namespace service
