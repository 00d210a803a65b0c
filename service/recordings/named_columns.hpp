#pragma once

#include <functional>
#include <string>
#include <vector>

#include "service/recordings/csv_recording.hpp"

namespace service {

/// Imports a recording from a file that stores whole columns by name, such as MAT or HDF5. Values
/// are checked like the cells of a CSV file.
/// @param noun  word for a column in messages, e.g. "variable"
/// @param read  function that returns the column with a name from the rig file's recording { }
/// @throws proto::InputError naming file and column
ImportedRecording import_named_columns(
    const std::string& path, const std::string& noun, const RecordingFormat& format,
    const std::function<std::vector<double>(const std::string&)>& read);

}  // namespace service
