#pragma once

#include <string>
#include <vector>

#include "service/import/column_recording.hpp"

namespace service {

/// What a file of a recording holds, column by column, with no rig file to say what they mean.
struct RecordingColumns {
  /// By the names that a rig file's recording { } reads them by; without values: no numbers.
  std::vector<NamedColumn> columns;
  std::vector<std::string> texts = {};  ///< names of those that hold words
  std::string fault = {};  ///< why the last of the others holds none; empty where all do
};

/// Reads all columns of a CSV, MAT or HDF5 file, or what a ROS 2 bag tells of its joints.
/// @throws proto::InputError for a file that cannot be read, without any column of numbers, or of
///         rigcal-daq or rigcal estimate, which a rig file reads without naming columns
RecordingColumns read_columns(const std::string& path);

}  // namespace service
