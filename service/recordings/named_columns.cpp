#include "service/recordings/named_columns.hpp"

#include <cmath>

#include "proto/text/input_error.hpp"

namespace service {
namespace {

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
    throw proto::InputError(
        table.where(static_cast<int>(k), request) +
        ": not finite. Remove the row, or write allow_missing: true if the angle may be missing");
  }
}

}  // namespace

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
  const std::size_t rows = table.values.front().size();
  if (rows == 0) {
    throw proto::InputError(path + ": its " + noun + "s are empty; record something first");
  }
  for (std::size_t k = 0; k < rows; ++k) table.lines.push_back(static_cast<int>(k) + 1);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    check_numbers(table, static_cast<int>(i), requests[i]);
  }
  return import_table(table, format);
}

}  // namespace service
