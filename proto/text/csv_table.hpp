#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proto/text/input_error.hpp"

namespace proto {

/// Meaning of an empty cell, or "nan", in a column.
enum class MissingCells {
  kForbidden,       ///< an error
  kAllowed,         ///< the value is NaN
  kAllowedAtTheEnd  ///< in the last row the value is NaN; an error elsewhere
};

/// Content of a column's cells.
enum class CellKind {
  kNumber,
  kName  ///< any text; the values number the names from 0 in order of occurrence
};

/// A column to read.
struct ColumnRequest {
  std::string name;
  MissingCells missing = MissingCells::kForbidden;
  CellKind kind = CellKind::kNumber;
};

/// Columns of numbers from a CSV file, or from a file of another format that was converted to this
/// form.
struct CsvTable {
  std::string path;
  char delimiter = ',';
  std::vector<std::string> header;          ///< names of all columns of the file
  std::vector<int> fields;                  ///< per request: its index in the header
  std::vector<std::vector<double>> values;  ///< per request: one number a row, finite or NaN
  std::vector<int> lines;                   ///< per row: its line in the file, from 1

  /// Name of each requested column in a file without lines, such as "variable 'theta'"; empty for
  /// CSV.
  std::vector<std::string> sources = {};

  int row_count() const { return static_cast<int>(lines.size()); }

  /// Returns the location of a value for messages: "FILE:LINE:FIELD", counted from 1, or "FILE:
  /// SOURCE, row ROW" for a file without lines.
  std::string where(int row, int request) const;
};

/// Returns the column names in the first line of CSV text. Names are separated by commas outside
/// quotes; if there are none, by semicolons or tabs. Quotes and spaces around names are removed.
/// @throws InputError for an empty file, a file that is not text, or one that starts with numbers
std::vector<std::string> parse_csv_header(const std::string& path, std::string_view text);

/// Error for a column that must be numeric but begins with a word.
class TextColumnError : public InputError {
 public:
  using InputError::InputError;
};

/// Reads the requested columns. Other columns may hold anything; blank lines are ignored.
/// @throws InputError "FILE:LINE:FIELD: what; what to do" for a column that is missing or occurs
///     twice, a row of the wrong length, or a cell without a finite number; TextColumnError for a
///     column that begins with a word
CsvTable parse_csv(const std::string& path, std::string_view text,
                   const std::vector<ColumnRequest>& requests);

}  // namespace proto
