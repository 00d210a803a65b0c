#pragma once

#include <string>
#include <vector>

#include "estimator/signal/time_series.hpp"
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

/// Format of a recording file, determined from its name and its first bytes.
enum class RecordingKind {
  kDaqMcap,     ///< MCAP of rigcal-daq, or MCAP of unknown origin
  kJointState,  ///< MCAP bag of ROS 2 with sensor_msgs/msg/JointState
  kStateMcap,   ///< MCAP written by `rigcal estimate`
  kMat,
  kHdf5,
  kParquet,  ///< not supported
  kJson,     ///< JSON result of rigcal, not a recording
  kTable     ///< CSV, or any other file
};

/// Returns the format of a recording file. If the file is unreadable, the name alone decides.
RecordingKind recording_kind(const std::string& path);

/// Checks that a file of this format can be imported.
/// @throws proto::InputError with a remedy, if the format is unsupported or not a recording
void refuse_unsupported_kind(const std::string& path, RecordingKind kind);

/// Columns of a recording file that was read without a rig file.
struct RecordingColumns {
  /// Columns with the names to use in recording { } of a rig file. A column without values is not
  /// numeric.
  std::vector<NamedColumn> columns;
  std::vector<std::string> texts = {};  ///< names of text columns
  std::string fault = {};               ///< why a column could not be read; empty if all could
};

/// Reads all columns of a CSV, MAT or HDF5 file, or the joint data of a ROS 2 bag.
/// @throws proto::InputError for a file that is unreadable or has no numeric columns, or for a file
///         of rigcal-daq or rigcal estimate, which needs no column names in the rig file
RecordingColumns read_columns(const std::string& path);

/// Returns a recording as CSV text that import_recording can read with the same rig file. The rig
/// file's recording { } defines columns, units, signs and offsets; without it, plain_format does.
/// Rows without readings are left out.
std::string recording_csv(const Rig& rig, const estimator::Recording& recording);

/// Returns a list of the data of a recording that `recording_csv` cannot represent. Each entry is a
/// sentence with the remedy.
std::vector<std::string> csv_losses(const Rig& rig, const estimator::Recording& recording);

}  // namespace service
