#pragma once

#include <string>
#include <vector>

#include "service/recordings/column_recording.hpp"

namespace service {

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

}  // namespace service
