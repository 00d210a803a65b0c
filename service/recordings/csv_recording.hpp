#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "proto/text/table/csv_table.hpp"
#include "service/recordings/joined_segments.hpp"
#include "service/rig/recording_format.hpp"

namespace service {

/// Time interval of a recording without samples.
struct RecordingGap {
  int line = 0;           ///< line number of the first sample after the gap, from 1
  double start = 0.0;     ///< time of the last sample before the gap [s]
  double duration = 0.0;  ///< [s]
};

/// Statistics of an imported recording, such as sampling period and gaps, with notes for the user.
struct ImportSummary {
  /// Rate error of the acquisition unit's clock relative to the computer's clock. The time stamps
  /// are already corrected for this error.
  struct ClockError {
    double rate_error_ppm = 0.0;
    double standard_deviation_ppm = 0.0;
  };
  /// Jitter of the arrival of samples at the computer. The times have no such jitter, because the
  /// acquisition unit assigns them, or because a sample clock was recovered (BurstClock).
  struct ArrivalJitter {
    double jitter_us_p99 = 0.0;
    double jitter_us_max = 0.0;
  };

  std::string file;
  std::string scenario;               ///< name of the scenario; empty if unknown
  std::int64_t epoch_unix_ns = 0;     ///< time of the start, since 1970 [ns]; 0: unknown
  int rows = 0;                       ///< number of rows of the file, without merged rows and rows
                                      ///< before the first command
  int rows_before_release = 0;        ///< rows left out because the rig was still held by hand
  int rows_after_trip = 0;            ///< rows left out because a safety trip had ended the run
  int dropped_rows = 0;               ///< rows left out because their segment is too short
  double period = 0.0;                ///< sampling period [s]
  double jitter_max = 0.0;            ///< largest deviation from uniform sampling [periods]
  bool steady_clock = true;           ///< sampling is uniform; if false, time stamps are kept
  bool has_several_clocks = false;    ///< columns have time stamps of their own
  MissingRowCounts holes;             ///< missing rows within segments
  std::uint64_t missing_samples = 0;  ///< number of samples missing in the listed gaps
  std::optional<ClockError> clock;
  std::optional<ArrivalJitter> arrival;
  std::vector<RecordingGap> gaps;  ///< gaps that split the recording into segments
  std::vector<std::string> notes;  ///< messages for the user
};

/// Imported recording, with statistics of the import and notes for the user.
struct ImportedRecording {
  estimator::Recording recording;
  ImportSummary summary;
};

/// Time interval of a recording. Rows outside are left out before rows are judged.
struct TimeWindow {
  double from = -std::numeric_limits<double>::infinity();  ///< [s]
  double to = std::numeric_limits<double>::infinity();     ///< [s]
};

/// Smallest number of samples of a segment. The import drops shorter segments.
inline constexpr int kSegmentSamplesMin = 10;

/// Imports a recording from CSV text in memory. Angles are converted to rad, and angles recorded
/// modulo 2π are unwrapped. Readings are not resampled or interpolated.
///
/// If all time stamps are uniform within the format's tolerance, exactly uniform times replace
/// them. A gap or a change in the segment column ends a segment. Rows missing within a segment
/// (estimator::can_continue_across_gap) have no readings. Segments with fewer than
/// kSegmentSamplesMin samples are dropped and counted. A control value applies until the next one;
/// its cells in between may be empty. See arrange_rows for logs with several clocks. False readings
/// in up to five successive rows are kept, because the estimator rejects them as outliers.
/// @param path  file name for messages
ImportedRecording import_csv_text(const std::string& path, std::string_view text,
                                  const RecordingFormat& format, const TimeWindow& window = {});

/// Returns requests for the table columns that belong to a recording format.
std::vector<proto::ColumnRequest> make_column_requests(const RecordingFormat& format);

/// Imports a recording from a CSV table whose columns `make_column_requests` has requested.
ImportedRecording import_csv_table(proto::CsvTable table, const RecordingFormat& format,
                                   const TimeWindow& window = {});

/// Returns the message on time stamps that deviate from uniform sampling and are used as they are,
/// with the remedy but without the file name; empty if they do not.
std::string describe_irregular_times(const ImportSummary& summary);

/// Returns messages on time stamps, gaps, dropped rows and suspicious columns of an imported
/// recording.
std::vector<std::string> describe_import(const ImportSummary& summary);

/// Name and values of a column of numbers.
struct NamedColumn {
  std::string name;
  std::vector<double> values;  ///< one per row; NaN if missing
  std::string fault = {};      ///< why the column cannot be read; empty if it can
  std::string unit = {};       ///< from a line below the header; empty if there is none
};

/// Returns the names of items in quotes, separated by commas; the text `none` if there are no
/// items.
/// @param shown_max  number of names after which the list ends
template <typename Items>
std::string join_quoted_names(
    const Items& items, const std::string& none,
    std::ptrdiff_t shown_max = std::numeric_limits<std::ptrdiff_t>::max()) {
  std::string list;
  for (const auto& item : items | std::views::take(shown_max)) {
    list += (list.empty() ? "\"" : ", \"") + item.name + "\"";
  }
  return list.empty() ? none : list;
}

/// Imports a recording from columns in memory, with the same checks as for CSV files. Messages
/// count rows from 1.
/// @param name  name of the recording for messages
ImportedRecording import_columns_in_memory(const std::string& name,
                                           const std::vector<NamedColumn>& columns,
                                           const RecordingFormat& format,
                                           const TimeWindow& window = {});

/// Imports a recording from a file that stores whole columns by name, such as MAT or HDF5. Values
/// are checked like the cells of a CSV file.
/// @param noun  word for a column in messages, e.g. "variable"
/// @param read  function that returns the column with a name from the rig file's recording { }
ImportedRecording import_file_columns(
    const std::string& path, const std::string& noun, const RecordingFormat& format,
    const std::function<std::vector<double>(const std::string&)>& read,
    const TimeWindow& window = {});

}  // namespace service
