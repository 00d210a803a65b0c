#pragma once

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

}  // namespace service
