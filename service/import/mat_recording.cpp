#include "service/import/mat_recording.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "proto/recording/mat_file.hpp"
#include "proto/text/input_error.hpp"
#include "service/import/exported_recording.hpp"

namespace service {
namespace {

/// A column as a rig file names it: a variable, or one column of a matrix.
struct ColumnName {
  std::string variable;
  std::size_t column = 0;  // from 1; 0: the variable is one column, or one row
};

ColumnName parse_name(const std::string& text) {
  const std::size_t open = text.find('(');
  if (open == std::string::npos || text.back() != ')') return {text};
  ColumnName name{text.substr(0, open)};
  const char* const end = text.data() + text.size() - 1;
  const auto [parsed, fault] = std::from_chars(text.data() + open + 1, end, name.column);
  if (fault != std::errc() || parsed != end || name.column == 0) return {text};
  return name;
}

std::string list_of(const proto::MatFile& file) {
  constexpr std::size_t kShown = 20;
  std::string list;
  for (std::size_t k = 0; k < std::min(file.variables().size(), kShown); ++k) {
    list += (list.empty() ? "'" : ", '") + file.variables()[k].name + "'";
  }
  return list.empty() ? "none" : list;
}

std::vector<double> read_column(const std::string& path, const proto::MatFile& file,
                                const std::string& text) {
  const ColumnName name = parse_name(text);
  const proto::MatFile::Variable* const variable = file.find(name.variable);
  if (variable == nullptr) {
    throw proto::InputError(path + ": no variable '" + name.variable + "'; the file has " +
                            list_of(file) + "; correct the name in the rig file's recording { }");
  }
  std::vector<double> values = file.read(name.variable);
  const bool is_vector = variable->rows == 1 || variable->columns == 1;
  if (name.column == 0 && is_vector) return values;
  if (name.column == 0 || name.column > variable->columns) {
    throw proto::InputError(path + ": variable '" + name.variable + "' is a matrix with " +
                            std::to_string(variable->columns) + " columns; name one of them in " +
                            "the rig file's recording { }, such as column: \"" + name.variable +
                            "(1)\"");
  }
  const auto begin =
      values.begin() + static_cast<std::ptrdiff_t>((name.column - 1) * variable->rows);
  return {begin, begin + static_cast<std::ptrdiff_t>(variable->rows)};
}

/// What a CSV file's cells are held to.
void check_numbers(const proto::CsvTable& table, int request, const proto::ColumnRequest& asked) {
  const std::vector<double>& values = table.values[static_cast<std::size_t>(request)];
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (std::isfinite(values[k])) continue;
    const bool last = k + 1 == values.size();
    if (std::isnan(values[k]) &&
        (asked.missing == proto::MissingCells::kAllowed ||
         (last && asked.missing == proto::MissingCells::kAllowedAtTheEnd))) {
      continue;
    }
    throw proto::InputError(table.where(static_cast<int>(k), request) +
                            ": is not finite; remove the row, or write allow_missing: true for an "
                            "angle that was not observed");
  }
}

}  // namespace

ImportedRecording import_mat(const std::string& path, const Rig& rig) {
  const proto::MatFile file(path);
  if (is_exported_mat(file)) return import_exported_mat(path, file, rig);
  if (!rig.format) {
    throw proto::InputError(rig.path +
                            ": does not say how recordings look; add recording { } with " +
                            "the variables of " + path + " (" + list_of(file) + ") for columns");
  }
  proto::CsvTable table;
  table.path = path;
  const std::vector<proto::ColumnRequest> requests = column_requests(*rig.format);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    table.header.push_back(requests[i].name);
    table.fields.push_back(static_cast<int>(i));
    table.sources.push_back("variable '" + requests[i].name + "'");
    table.values.push_back(read_column(path, file, requests[i].name));
    if (table.values.back().size() != table.values.front().size()) {
      throw proto::InputError(
          path + ": variable '" + requests[i].name + "' has " +
          std::to_string(table.values.back().size()) + " elements, '" + requests.front().name +
          "' " + std::to_string(table.values.front().size()) + "; cut them to the same samples");
    }
  }
  const std::size_t rows = table.values.front().size();
  if (rows == 0)
    throw proto::InputError(path + ": its variables are empty; record something first");
  for (std::size_t k = 0; k < rows; ++k) table.lines.push_back(static_cast<int>(k) + 1);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    check_numbers(table, static_cast<int>(i), requests[i]);
  }
  return import_table(table, *rig.format);
}

}  // namespace service
