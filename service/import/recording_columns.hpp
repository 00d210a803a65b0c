#pragma once

#include <string>
#include <vector>

#include "service/import/column_recording.hpp"

namespace service {

/// Columns of a recording file, without a rig file that defines their meaning.
struct RecordingColumns {
  /// With the names used in a rig file's recording { }; without values: not numeric.
  std::vector<NamedColumn> columns;
  std::vector<std::string> texts = {};  ///< names of text columns
  std::string fault = {};  ///< why another column without values could not be read; empty: no fault
};

/// Reads all columns of a CSV, MAT or HDF5 file, or the joint data of a ROS 2 bag.
/// @throws proto::InputError for an unreadable file, one without numeric columns, or one of
///         rigcal-daq or rigcal estimate, which rig files read without column names
RecordingColumns read_columns(const std::string& path);

}  // namespace service
