#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proto/recording/recording_reader.hpp"
#include "proto/text/csv_table.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"

namespace proto {
class MatFile;
}

namespace service {

// Import of files written by `rigcal export`, equivalent to the original recording: signs and zeros
// are applied already; gaps, clock and release are kept. The rig file's recording { } is not used.

/// Checks whether the header of a CSV file is that of a file written by `rigcal export`. Older
/// exports without the last two columns are accepted.
bool is_exported_csv(const std::vector<std::string>& header);

/// Imports CSV text that `rigcal export` wrote.
/// @throws proto::InputError naming file and line
ImportedRecording import_exported_csv(const std::string& path, std::string_view text,
                                      const Rig& rig);

/// Checks whether a MAT file has the variables of a file written by `rigcal export`.
bool is_exported_mat(const proto::MatFile& file);

/// Imports a MAT file that `rigcal export` wrote.
/// @throws proto::InputError naming file and variable
ImportedRecording import_exported_mat(const std::string& path, const proto::MatFile& file,
                                      const Rig& rig);

/// Imports a MAT file (version 4, 5 or 7.3). `rigcal export` must have written it, or its variables
/// must have the column names in the rig file's recording { }. The column name "theta(2)" means the
/// second column of the matrix theta.
/// @throws proto::InputError naming file and variable
ImportedRecording import_mat(const std::string& path, const Rig& rig);

/// Imports an HDF5 file. Its data sets must have the column names in the rig file's recording { };
/// see proto::Hdf5File.
/// @throws proto::InputError naming file and data set
ImportedRecording import_hdf5(const std::string& path, const Rig& rig);

/// Checks whether a file name ends in ".mcap", as finished rigcal-daq recordings do, or in
/// ".mcap.part", as interrupted ones do.
bool is_mcap(const std::string& path);

/// Stores in the summary how many rows were left out because the rig was held by hand, and adds a
/// note.
void note_rows_before_release(int rows_before_release, ImportSummary& summary);

/// Imports a recording of rigcal-daq. Its channels and motors are matched to the rig by joint name.
/// Damaged samples are left out and counted in the notes.
/// @throws InputError for a file that is unreadable, too short, or lacks a joint or motor of the
/// rig
ImportedRecording import_mcap(const std::string& path, const Rig& rig);

/// Imports samples of a rigcal-daq recording that have already been read.
/// @param path       name of the recording for messages
/// @param release_s  time at which the rig was released by hand [s], see find_release
ImportedRecording import_samples(const std::string& path, const proto::Recording& recording,
                                 double release_s, const Rig& rig);

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
