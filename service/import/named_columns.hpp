#pragma once

#include <functional>
#include <string>
#include <vector>

#include "service/import/csv_recording.hpp"

namespace service {

/// Reads a recording from a file that knows its columns by name and has no lines, such as MAT and
/// HDF5: what `read` gives for the columns of a rig file's recording { }, held to what the cells of
/// a CSV file are held to. `noun` is what such a file calls a column.
/// @throws proto::InputError naming file and column
ImportedRecording import_named_columns(
    const std::string& path, const std::string& noun, const RecordingFormat& format,
    const std::function<std::vector<double>(const std::string&)>& read);

}  // namespace service
