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

/// A stretch of time without samples.
struct Gap {
  int line = 0;           ///< line of the file after the gap, from 1
  double start = 0.0;     ///< time of the last sample before it [s]
  double duration = 0.0;  ///< [s]
};

/// What was found while a recording was imported.
struct ImportSummary {
  /// How fast the unit's clock is against the host's; already corrected in the samples' times.
  struct Clock {
    double rate_error_ppm = 0.0;
    double standard_deviation_ppm = 0.0;
  };
  /// How far samples arrived from their period. Their times are the unit's and do not suffer.
  struct Arrival {
    double jitter_us_p99 = 0.0;
    double jitter_us_max = 0.0;
  };

  std::string file;
  std::string scenario;               ///< that was run; empty where the recording does not say
  int rows = 0;                       ///< in the file
  int held_rows = 0;                  ///< before a release: a hand held the rig; left out
  int dropped_rows = 0;               ///< in stretches too short to use
  double period = 0.0;                ///< [s]
  double jitter_max = 0.0;            ///< largest distance of a time stamp from the grid [periods]
  bool steady_clock = true;           ///< else time stamps are used as they are
  Holes holes;                        ///< rows missing where the recording goes on
  std::uint64_t missing_samples = 0;  ///< that the recording knows it lacks, in its gaps
  std::optional<Clock> clock;
  std::optional<Arrival> arrival;
  std::vector<Gap> gaps;           ///< gaps split the recording; nothing is interpolated
  std::vector<std::string> notes;  ///< for people
};

struct ImportedRecording {
  estimator::Recording recording;
  ImportSummary summary;
};

/// Fewest samples of a segment that is kept.
inline constexpr int kSegmentSamplesMin = 10;

/// Reads a CSV recording that is text in memory into segments [rad, unit of the control].
///
/// Nothing is resampled, interpolated or invented: time stamps within the format's tolerance of a
/// uniform grid count as that grid, others as they are; rows that are missing where the recording
/// goes on (estimator::goes_on) have no readings; a gap, or a change in the segment column, ends a
/// segment; segments under kSegmentSamplesMin samples are dropped and counted. Angles that jump by
/// a turn because they were recorded modulo 2π are unwrapped. The last row's control is held, not
/// used, and may be missing.
///
/// @throws proto::InputError "FILE:LINE:FIELD: what; what to do"
ImportedRecording import_csv_text(const std::string& path, std::string_view text,
                                  const RecordingFormat& format);

/// What a format asks of a table, column by column.
std::vector<proto::ColumnRequest> column_requests(const RecordingFormat& format);

/// The same of a table that holds what column_requests asks for.
ImportedRecording import_table(const proto::CsvTable& table, const RecordingFormat& format);

}  // namespace service
