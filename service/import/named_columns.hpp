#pragma once

#include <functional>
#include <string>
#include <vector>

#include "service/import/csv_recording.hpp"

namespace service {

/// Imports a recording from a file with named columns and no lines, such as MAT and HDF5. `read`
/// returns a column by its name in the rig file's recording { }; cells are checked as in a CSV
/// file. `noun` is the format's word for a column.
/// @throws proto::InputError with file and column
ImportedRecording import_named_columns(
    const std::string& path, const std::string& noun, const RecordingFormat& format,
    const std::function<std::vector<double>(const std::string&)>& read);

}  // namespace service
