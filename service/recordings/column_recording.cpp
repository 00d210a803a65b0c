#include "service/recordings/column_recording.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "proto/text/input_error.hpp"

namespace service {
namespace {

int find_column(const std::string& name, const std::vector<NamedColumn>& columns,
                const std::string& wanted) {
  const auto is_wanted = [&](const NamedColumn& column) { return column.name == wanted; };
  const auto found = std::ranges::find_if(columns, is_wanted);
  if (found == columns.end()) {
    throw proto::InputError(name + ": no column \"" + wanted + "\"; the columns are " +
                            quoted_names(columns, "none") +
                            ". Correct the name in the rig file's recording { }");
  }
  if (std::count_if(found, columns.end(), is_wanted) > 1) {
    throw proto::InputError(name + ": two columns are called \"" + wanted + "\". Rename one");
  }
  return static_cast<int>(found - columns.begin());
}

/// Checks that no value is infinite, and that values are missing only if the column allows it.
/// @param refusal  returns the message for an invalid cell: its place, request and value
template <typename Refusal>
void check_cells(const proto::CsvTable& table, const std::vector<proto::ColumnRequest>& requests,
                 const Refusal& refusal) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::vector<double>& values = table.values[i];
    for (std::size_t row = 0; row < values.size(); ++row) {
      const bool may_lack = requests[i].missing == proto::MissingCells::kAllowed ||
                            (requests[i].missing == proto::MissingCells::kAllowedAtTheEnd &&
                             row + 1 == values.size());
      if (std::isfinite(values[row]) || (std::isnan(values[row]) && may_lack)) continue;
      const std::string where = table.where(static_cast<int>(row), static_cast<int>(i));
      throw proto::InputError(where + ": " + refusal(requests[i], values[row]));
    }
  }
}

void number_rows(proto::CsvTable& table) {
  table.lines.resize(table.values.front().size());
  std::iota(table.lines.begin(), table.lines.end(), 1);
}

}  // namespace

ImportedRecording import_columns(const std::string& name, const std::vector<NamedColumn>& columns,
                                 const RecordingFormat& format) {
  proto::CsvTable table;
  table.path = name;
  for (const NamedColumn& column : columns) table.header.push_back(column.name);
  const std::vector<proto::ColumnRequest> requests = column_requests(format);
  for (const proto::ColumnRequest& request : requests) {
    const int field = find_column(name, columns, request.name);
    table.fields.push_back(field);
    table.values.push_back(columns[static_cast<std::size_t>(field)].values);
    if (table.values.back().size() == table.values.front().size()) continue;
    throw proto::InputError(
        name + ": column \"" + request.name + "\" has " +
        std::to_string(table.values.back().size()) + " rows, column \"" + requests.front().name +
        "\" has " + std::to_string(table.values.front().size()) + "; give columns of one length");
  }
  if (table.values.empty() || table.values.front().empty()) {
    throw proto::InputError(name + ": has no rows; record something first");
  }
  number_rows(table);
  check_cells(table, requests, [](const proto::ColumnRequest& request, double value) {
    return "column \"" + request.name + "\": " +
           (std::isnan(value) ? "NaN is not allowed. Remove the row (this leaves a gap), or write "
                                "allow_missing: true if the angle may be missing"
                              : "the value is infinite. Correct or remove the row");
  });
  return import_table(table, format);
}

ImportedRecording import_named_columns(
    const std::string& path, const std::string& noun, const RecordingFormat& format,
    const std::function<std::vector<double>(const std::string&)>& read) {
  proto::CsvTable table;
  table.path = path;
  const std::vector<proto::ColumnRequest> requests = column_requests(format);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    table.header.push_back(requests[i].name);
    table.fields.push_back(static_cast<int>(i));
    table.sources.push_back(noun + " \"" + requests[i].name + "\"");
    table.values.push_back(read(requests[i].name));
    if (table.values.back().size() != table.values.front().size()) {
      throw proto::InputError(
          path + ": " + table.sources.back() + " has " +
          std::to_string(table.values.back().size()) + " elements, \"" + requests.front().name +
          "\" " + std::to_string(table.values.front().size()) + ". Give columns of equal length");
    }
  }
  if (table.values.front().empty()) {
    throw proto::InputError(path + ": its " + noun + "s are empty; record something first");
  }
  number_rows(table);
  check_cells(table, requests, [](const proto::ColumnRequest&, double) {
    return "not finite. Remove the row, or write allow_missing: true if the angle may be missing";
  });
  return import_table(table, format);
}

}  // namespace service
