#pragma once

#include <string>
#include <vector>

#include "proto/text/csv_table.hpp"
#include "service/import/csv_recording.hpp"
#include "service/import/recording_format.hpp"

namespace service {

/// A column of numbers that is in memory already.
struct NamedColumn {
  std::string name;
  std::vector<double> values;  ///< NaN: missing
};

/// Reads a recording from columns in memory, as `import_csv` would from a file that holds them.
/// Messages name rows from 1.
/// @param name  of the recording, for messages
/// @throws proto::InputError "NAME:ROW:COLUMN: what; what to do"
ImportedRecording import_columns(const std::string& name, const std::vector<NamedColumn>& columns,
                                 const RecordingFormat& format);

/// The columns that a format reads, in the order of the values of a table for `import_table`.
std::vector<proto::ColumnRequest> column_requests(const RecordingFormat& format);

/// Reads a recording from a table of the columns that were requested, see `import_csv`.
ImportedRecording import_table(const proto::CsvTable& table, const RecordingFormat& format);

}  // namespace service
