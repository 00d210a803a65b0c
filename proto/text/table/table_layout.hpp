#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace proto {

/// Lines of a text, numbered from 1. Lines end with \n, \r\n, or \r if the text has no \n.
class LineReader {
 public:
  LineReader(std::string_view text, int lines_before = 0);

  /// Moves to the next line; returns false at the end of the text.
  bool next();
  std::string_view line() const { return line_; }
  int number() const { return number_; }
  std::string_view rest() const { return rest_; }  ///< text after the line
  /// Returns whether the text ends within the line, without a line break.
  bool is_unfinished() const { return !has_break_; }

 private:
  std::string_view rest_, line_;
  char end_;
  int number_;
  bool has_break_ = true;
};

/// Returns whether a line of a table is blank or a comment, which begins with #, % or //.
bool is_blank_or_comment(std::string_view line);

/// A time stamp in two columns, such as "header.stamp.sec" and "header.stamp.nanosec" of ROS 2.
struct TimeStampColumn {
  std::string name;     ///< common name of both columns: "header.stamp"
  int seconds = 0;      ///< index of the column of whole seconds
  int nanoseconds = 0;  ///< index of the column of nanoseconds within the second
};

/// Structure of a text table: separator, header and rows.
struct TableLayout {
  char delimiter = ',';                 ///< a blank stands for any run of blanks and tabs
  std::vector<std::string> names;       ///< names of all columns; "column 3" for one without a name
  std::vector<std::string> units;       ///< of all columns, from a line below the header; or empty
  std::vector<TimeStampColumn> stamps;  ///< time stamps, each of which consists of two columns
  int header_line = 1;                  ///< line of the header, or of the first row without header
  bool has_header = true;        ///< if not, the caller names the columns, or they are numbered
  bool has_extra_cells = false;  ///< rows may have more cells than the header
  std::string_view rows;         ///< text of the rows
  int lines_before_rows = 0;
  std::vector<std::string> assumptions;  ///< notes such as "3 lines before the header"
  std::string mismatch;  ///< reason why the line above the rows is not a header; or empty
};

/// Finds the layout of a table. The separator and the number of columns are chosen so that most
/// cells of the last rows are numbers. The header is the line before the first such row, even if it
/// is a comment. Lines above the header are ignored.
/// @param text   text in UTF-8; must outlive the result
/// @param names  names of the columns if the text has no header; empty: "1", "2" and so on
/// @throws InputError for an empty text, or if the number of `names` differs from the columns
TableLayout find_table_layout(const std::string& path, std::string_view text,
                              const std::vector<std::string>& names);

}  // namespace proto
