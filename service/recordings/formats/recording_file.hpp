#pragma once

#include <string>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/recordings/recording_selection.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Imports a recording from an MCAP, MAT, HDF5, NumPy or CSV file, or from a ROS 2 bag with
/// sensor_msgs/msg/JointState. MCAP files are from rigcal-daq or rigcal estimate, or ROS 2 bags.
///
/// Other files have the columns of the rig file's recording { }. CSV files can also be from rigcal
/// export, simulate or estimate, or from rigcal-sim --truth; MAT files also from rigcal export.
/// @param selection  rows outside of its times are left out of files with the columns of recording
///                   { }; its topic selects a topic of a ROS 2 bag (empty: the topic in the rig
///                   file, or all topics)
/// @throws proto::InputError for an invalid file, or a topic for a file that is not a ROS 2 bag
ImportedRecording import_recording(const std::string& path, const Rig& rig,
                                   const RecordingSelection& selection = {});

/// Returns the format of CSV recordings from `rigcal simulate`, with the column names t_s,
/// <encoder>_rad and <joint>_control.
RecordingFormat default_recording_format(const Rig& rig);

/// Formats of recording files.
enum class RecordingFileFormat {
  kDaqMcap,     ///< MCAP of rigcal-daq, or MCAP of unknown origin
  kJointState,  ///< ROS 2 bag, MCAP or SQLite, with sensor_msgs/msg/JointState
  kStateMcap,   ///< MCAP written by `rigcal estimate`
  kArrays,      ///< MAT, HDF5 or NumPy
  kForeign,     ///< format of another program that rigcal does not read
  kJson,        ///< JSON result of rigcal, not a recording
  kTable        ///< CSV, or any other file
};

/// Returns the format of a recording file, determined from the file name and the first bytes.
RecordingFileFormat detect_file_format(const std::string& path);

/// Throws an error if rigcal cannot import recordings in this file format.
/// @throws proto::InputError with a remedy, if the format is unsupported or not a recording
void reject_unsupported_format(const std::string& path, RecordingFileFormat kind);

/// Columns of a recording file, read without a rig file.
struct RecordingColumns {
  /// Columns of the file. Their names can be used in recording { } of a rig file. A column without
  /// values is not numeric.
  std::vector<NamedColumn> columns;
  std::size_t stamp_count = 0;  ///< the first columns are time stamps in two columns of the file
  std::vector<std::string> texts = {};  ///< names of text columns
  /// Content that is not a column: arrays of another length, or without real numbers.
  struct Other {
    std::string name;
    std::string reason;  ///< why it is not a column
  };
  std::vector<Other> others = {};
  std::string fault = {};   ///< why a column could not be read; empty if all could
  std::string layout = {};  ///< what was assumed about a text file; empty: plain CSV
};

/// Reads all columns of a text, MAT, HDF5 or NumPy file, or all joint states of a ROS 2 bag.
/// @param names  names of the columns of a text file without header line; empty: "1", "2" and so on
/// @param topic  topic of a ROS 2 bag; empty: all topics
/// @throws proto::InputError for a file that is unreadable or has no numeric columns, or for a file
///         of rigcal-daq or rigcal estimate, which needs no column names in the rig file
RecordingColumns read_recording_columns(const std::string& path,
                                        const std::vector<std::string>& names = {},
                                        const std::string& topic = {});

/// Returns a recording as CSV text that rigcal can import with the same rig file. The rig file's
/// recording { } defines columns, units, signs and offsets; without recording { },
/// default_recording_format does. Rows without readings are left out.
std::string format_recording_csv(const Rig& rig, const estimator::Recording& recording);

/// Returns sentences on the data of a recording that a CSV file cannot represent, with remedies.
std::vector<std::string> list_csv_losses(const Rig& rig, const estimator::Recording& recording);

}  // namespace service
