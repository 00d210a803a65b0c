#pragma once

#include <string>
#include <vector>

#include "proto/text/csv_table.hpp"
#include "service/import/csv_recording.hpp"
#include "service/import/recording_format.hpp"

namespace service {

/// Column of numbers in memory.
struct NamedColumn {
  std::string name;
  std::vector<double> values;  ///< NaN: missing
};

/// Imports a recording from columns in memory, as `import_csv_text` does from a file. Messages
/// count rows from 1.
/// @param name  name of the recording, for messages
/// @throws proto::InputError "NAME:ROW:COLUMN: message; remedy"
ImportedRecording import_columns(const std::string& name, const std::vector<NamedColumn>& columns,
                                 const RecordingFormat& format);

/// Returns the columns that a format reads, in the order of the table's values for `import_table`.
std::vector<proto::ColumnRequest> column_requests(const RecordingFormat& format);

/// Imports a recording from a table of the requested columns, see `import_csv_text`.
ImportedRecording import_table(const proto::CsvTable& table, const RecordingFormat& format);

}  // namespace service
