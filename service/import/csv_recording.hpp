#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "proto/text/csv_table.hpp"
#include "service/import/joined_segments.hpp"
#include "service/import/recording_format.hpp"

namespace service {

/// Time interval without samples.
struct Gap {
  int line = 0;           ///< first line after the gap, from 1
  double start = 0.0;     ///< time of the last sample before it [s]
  double duration = 0.0;  ///< [s]
};

/// Statistics and notes of an import.
struct ImportSummary {
  /// Rate error of the unit's clock relative to the host's; already corrected in the time stamps.
  struct Clock {
    double rate_error_ppm = 0.0;
    double standard_deviation_ppm = 0.0;
  };
  /// Deviation of arrival times from the period. Time stamps are the unit's and unaffected.
  struct Arrival {
    double jitter_us_p99 = 0.0;
    double jitter_us_max = 0.0;
  };

  std::string file;
  std::string scenario;               ///< name of the scenario; empty if unknown
  int rows = 0;                       ///< in the file
  int rows_before_release = 0;        ///< before the rig was released by hand; left out
  int dropped_rows = 0;               ///< in segments too short to use
  double period = 0.0;                ///< [s]
  double jitter_max = 0.0;            ///< largest deviation of a time stamp from the grid [periods]
  bool steady_clock = true;           ///< uniform sampling; else time stamps are used as they are
  MissingRows holes;                  ///< missing rows within segments
  std::uint64_t missing_samples = 0;  ///< in gaps listed by the recording
  std::optional<Clock> clock;
  std::optional<Arrival> arrival;
  std::vector<Gap> gaps;           ///< each splits the recording; nothing is interpolated
  std::vector<std::string> notes;  ///< messages
};

struct ImportedRecording {
  estimator::Recording recording;
  ImportSummary summary;
};

/// Fewest samples of a segment.
inline constexpr int kSegmentSamplesMin = 10;

/// Imports a CSV recording from text in memory [rad, unit of the control].
///
/// Readings are not resampled or interpolated. Time stamps within the format's tolerance of a
/// uniform grid are replaced by the grid, others used as they are. Missing rows within a segment
/// (estimator::continues_across_gap) have no readings. A gap, or a change in the segment column,
/// ends a segment. Segments under kSegmentSamplesMin samples are dropped and counted. Angles
/// recorded modulo 2π are unwrapped. The last row's control has no effect and may be missing.
///
/// @throws proto::InputError "FILE:LINE:FIELD: message; remedy"
ImportedRecording import_csv_text(const std::string& path, std::string_view text,
                                  const RecordingFormat& format);

/// Returns the columns that a format reads from a table.
std::vector<proto::ColumnRequest> column_requests(const RecordingFormat& format);

/// Imports a recording from a table of these columns.
ImportedRecording import_table(const proto::CsvTable& table, const RecordingFormat& format);

}  // namespace service
