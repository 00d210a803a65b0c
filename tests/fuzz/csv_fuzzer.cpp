// Feeds arbitrary text to the CSV reader and to the import of recordings that uses it. Any text is
// refused in one sentence that names the file, or read completely: as many values as rows, finite
// where required, in segments whose samples are all from the file.

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/text/table/csv_table.hpp"
#include "service/recordings/csv_recording.hpp"
#include "tests/fuzz/refusal.hpp"

namespace {

using fuzz::require;

constexpr const char* kPath = "run.csv";

// Requests every column, with each kind of request in turn.
void check_table(std::string_view text, const std::vector<std::string>& names) {
  constexpr proto::MissingCells kKinds[] = {proto::MissingCells::kForbidden,
                                            proto::MissingCells::kAllowed,
                                            proto::MissingCells::kAllowedAtTheEnd};
  std::vector<proto::ColumnRequest> requests;
  for (std::size_t k = 0; k < names.size(); ++k) requests.push_back({names[k], kKinds[k % 3]});
  const proto::CsvTable table = proto::parse_csv(kPath, text, requests);
  require(table.values.size() == requests.size() && table.row_count() > 0);
  for (std::size_t k = 0; k < requests.size(); ++k) {
    const std::vector<double>& column = table.values[k];
    require(column.size() == table.lines.size());
    for (std::size_t row = 0; row < column.size(); ++row) {
      const bool may_lack = requests[k].missing == proto::MissingCells::kAllowed ||
                            (requests[k].missing == proto::MissingCells::kAllowedAtTheEnd &&
                             row + 1 == column.size());
      require(std::isfinite(column[row]) || (std::isnan(column[row]) && may_lack));
    }
  }
}

// Reads each column by itself: all its rows, or none with the reason, unless it begins with a word.
void check_columns(std::string_view text) {
  const proto::CsvColumns table = proto::read_csv_columns(kPath, text);
  require(table.stamp_count <= table.columns.size());
  std::size_t rows = 0;
  for (const proto::CsvColumn& column : table.columns) {
    require(column.values.empty() || column.fault.empty());
    require(column.fault.empty() || column.fault.starts_with(kPath));
    if (column.values.empty()) continue;
    require(rows == 0 || rows == column.values.size());
    rows = column.values.size();
    for (const double value : column.values) require(!std::isinf(value));
  }
}

// The first column as time, or none; then an optional angle, and a control signal.
service::RecordingFormat make_format(const std::vector<std::string>& names, bool with_time) {
  service::RecordingFormat format;
  std::size_t next = 0;
  if (with_time) {
    format.time_column = names[next++];
  } else {
    format.rate = 1000.0;
  }
  if (next < names.size()) {
    format.angles.push_back(
        {.column = names[next++], .joint = "a", .in_degrees = true, .allow_missing = true});
  }
  if (next < names.size()) {
    format.controls.push_back({.column = names[next++], .joint = "a", .unit = "V"});
  }
  if (next < names.size()) format.segment_column = names[next++];
  return format;
}

void check_import(std::string_view text, const std::vector<std::string>& names) {
  const bool with_time = names.size() > 1 && text.size() % 4 != 0;
  const service::TimeWindow window =
      text.size() % 3 == 0 ? service::TimeWindow{.from = 1.0, .to = 3.0} : service::TimeWindow{};
  const auto imported =
      service::import_csv_text(kPath, text, make_format(names, with_time), window);
  require(std::isfinite(imported.summary.period) && imported.summary.period > 0.0);
  int rows = imported.summary.dropped_rows;
  for (const estimator::Segment& segment : imported.recording.segments) {
    require(segment.sample_count() >= service::kSegmentSamplesMin);
    require(std::isfinite(segment.start) && segment.period == imported.summary.period);
    require(segment.controls.allFinite());
    rows += segment.sample_count();
  }
  require(rows == imported.summary.rows + imported.summary.holes.rows);
  require(imported.summary.holes.rows <= imported.summary.rows);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> names;
  fuzz::expect_value_or_refusal(kPath, [&] { names = proto::parse_csv_header(kPath, text).names; });
  if (names.empty()) return 0;
  fuzz::expect_value_or_refusal(kPath, [&] { check_columns(text); });
  fuzz::expect_value_or_refusal(kPath, [&] { check_table(text, names); });
  fuzz::expect_value_or_refusal(kPath, [&] { check_import(text, names); });
  return 0;
}
