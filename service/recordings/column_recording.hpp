#pragma once

#include <functional>
#include <string>
#include <vector>

#include "proto/text/csv_table.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/rig/recording_format.hpp"

namespace service {

/// Column of numbers in memory, with a name.
struct NamedColumn {
  std::string name;
  std::vector<double> values;  ///< one per row; NaN if missing
};

/// Imports a recording from columns in memory, with the checks of `import_csv_text`. Messages
/// count rows from 1.
/// @param name  name of the recording for messages
/// @throws proto::InputError "NAME:ROW:COLUMN: message; remedy"
ImportedRecording import_columns(const std::string& name, const std::vector<NamedColumn>& columns,
                                 const RecordingFormat& format);

/// Returns the columns that a recording format reads, in the order that `import_table` requires.
std::vector<proto::ColumnRequest> column_requests(const RecordingFormat& format);

/// Imports a recording from a table with the columns that `column_requests` returns. See
/// `import_csv_text` for the checks.
ImportedRecording import_table(const proto::CsvTable& table, const RecordingFormat& format);

/// Imports a recording from a file that stores whole columns by name, such as MAT or HDF5. Values
/// are checked like the cells of a CSV file.
/// @param noun  word for a column in messages, e.g. "variable"
/// @param read  function that returns the column with a name from the rig file's recording { }
/// @throws proto::InputError naming file and column
ImportedRecording import_named_columns(
    const std::string& path, const std::string& noun, const RecordingFormat& format,
    const std::function<std::vector<double>(const std::string&)>& read);

}  // namespace service
