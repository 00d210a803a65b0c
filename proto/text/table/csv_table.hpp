#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/text/input_error.hpp"

namespace proto {

/// Meaning of a cell that is empty or contains "nan".
enum class MissingCells {
  kForbidden,           ///< an error
  kForbiddenByRigFile,  ///< an error; allow_missing: true in the rig file permits the cell
  kAllowed,             ///< the value is NaN
  kAllowedAtTheEnd      ///< NaN in the last row; an error in any other row
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

/// A row or a cell of a table that cannot be read. All values of the row are then NaN.
struct CsvFault {
  int row = 0;
  int request = -1;      ///< column of the cell; −1: the whole row
  std::string message;   ///< "FILE:LINE:FIELD: what; what to do"
  bool is_text = false;  ///< the cell is a word in the first row
};

/// Columns of numbers from a CSV file, or from a file of another format that was converted to this
/// form.
struct CsvTable {
  std::string path;
  std::string layout;  ///< assumptions about a text file, for a note; empty: plain CSV
  std::vector<std::string> header;          ///< names of all columns of the file
  std::vector<std::string> units = {};      ///< units of all columns, from a line below the header
  std::vector<int> fields;                  ///< per request: index of its column in the header
  std::vector<int> nanoseconds = {};        ///< per request: index of the nanosecond column, or -1
  std::vector<std::vector<double>> values;  ///< per request: one number a row, finite or NaN
  std::vector<int> lines;                   ///< per row: its line in the file, from 1
  std::vector<CsvFault> faults = {};
  int first_row = 0;  ///< index of the first row among all rows of the file

  /// For binary files: name of each requested column in messages, such as "variable 'theta'". Empty
  /// for text files, whose messages contain a line number instead.
  std::vector<std::string> sources = {};

  int row_count() const { return static_cast<int>(lines.size()); }

  /// Returns the name of a requested column, with its unit if the file contains the unit: "u [mA]".
  std::string label(int request) const;

  /// Returns the location of a value for messages: "FILE:LINE:FIELD", counted from 1, or "FILE:
  /// SOURCE, row ROW" for a file without lines.
  std::string where(int row, int request) const;
};

/// Column names of a text table.
struct CsvHeader {
  std::vector<std::string> names;
  std::size_t stamp_count = 0;  ///< the first names are of time stamps in two columns (TableLayout)
};

/// A column of a text table, read independently of the other columns.
struct CsvColumn {
  std::string name;
  std::vector<double> values;  ///< one per row, finite or NaN; empty for a column that is not read
  std::string fault = {};      ///< reason why it is not read; empty if it is read or contains text
  std::string unit = {};       ///< unit from a line below the header; empty if there is none
};

/// All columns of a text table.
struct CsvColumns {
  std::vector<CsvColumn> columns;
  std::size_t stamp_count = 0;  ///< the first columns are time stamps in two columns (TableLayout)
  std::string layout;           ///< assumptions about the file, for a note; empty: plain CSV
};

/// Returns the column names of a text table. The layout of the file is found from its rows
/// (find_table_layout).
/// @param names  names of the columns if the file has no header line; empty: "1", "2" and so on
/// @throws InputError for an empty file or a file that is not text
CsvHeader parse_csv_header(const std::string& path, std::string_view text,
                           const std::vector<std::string>& names = {});

/// Reads the requested columns of a text table and lists the faults of its rows. Other columns may
/// contain anything; blank lines and comments are ignored. An incomplete last line is ignored.
/// @param names  names of the columns if the file has no header line; empty: "1", "2" and so on
/// @throws InputError "FILE:LINE: error; remedy" for a missing column, a column that occurs twice,
///     or a file without rows
CsvTable read_csv(const std::string& path, std::string_view text,
                  const std::vector<ColumnRequest>& requests,
                  const std::vector<std::string>& names = {});

/// Reads all columns of a text table. A column with a cell that is not a number has a fault, which
/// does not affect the other columns.
/// @param names  names of the columns if the file has no header line; empty: "1", "2" and so on
/// @throws InputError for a file without rows
CsvColumns read_csv_columns(const std::string& path, std::string_view text,
                            const std::vector<std::string>& names = {});

/// Lists the requested columns that a table lacks: `no column "t"` or `no columns "t", "x"`; empty
/// if the table has all of them.
std::string describe_missing_columns(const std::vector<ColumnRequest>& requests,
                                     const std::function<bool(const std::string&)>& has_column);

/// Throws InputError for the first fault of a table, if it has one.
void require_no_fault(const CsvTable& table);

/// Keeps only the rows with the given indices, in the given order. Removes faults of other rows.
void keep_rows(const std::vector<std::size_t>& rows, CsvTable& table);

/// Reads the requested columns like `read_csv`.
/// @throws InputError for the first fault
CsvTable parse_csv(const std::string& path, std::string_view text,
                   const std::vector<ColumnRequest>& requests);

}  // namespace proto
