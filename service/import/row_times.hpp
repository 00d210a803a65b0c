#pragma once

#include <vector>

#include "proto/text/csv_table.hpp"
#include "service/import/csv_recording.hpp"
#include "service/import/joined_segments.hpp"
#include "service/import/recording_format.hpp"

namespace service {

/// A swing takes about a second, and no encoder is read faster than every few microseconds [s].
inline constexpr double kSamplingPeriodMin = 1e-5;
inline constexpr double kSamplingPeriodMax = 0.5;

/// Rows of a table that are one segment.
struct Stretch {
  int first = 0;            ///< row
  int count = 0;            ///< rows
  double start = 0.0;       ///< time of the first row [s]; of a steady clock, on its grid
  std::vector<int> places;  ///< of the rows on the grid, from 0: missing rows leave places free
};

/// When the rows of a table were sampled.
struct RowTimes {
  double period =
      0.0;  ///< [s], common to all stretches; the mean one where the clock is not steady
  bool is_steady = true;       ///< else `stamps` are to be used as they are
  std::vector<double> stamps;  ///< of all rows [s]
  std::vector<Stretch> stretches;
  std::vector<Gap> gaps;
  Holes holes;              ///< over which stretches go on; of a steady clock
  int dropped_rows = 0;     ///< in stretches too short to keep
  double jitter_max = 0.0;  ///< largest distance of a stamp from the grid [periods]
};

/// Columns of a table by their number among its requests.
struct TimeRequests {
  int time = -1;          ///< of time stamps; −1: uses format.rate
  int segment = -1;       ///< whose change starts a new segment; −1: none
  int first_control = 0;  ///< of the format's controls
};

/// Finds the sampling period, the gaps and the segments of a recording.
///
/// The period is the pooled least-squares slope of time over row number; a step of more than 1.5
/// periods that is not made up for by the next is a hole. Where a recording does not go on over a
/// hole (estimator::goes_on), it is a gap. Stamps farther from the grid than the format's tolerance
/// make the clock one that is not steady.
/// @throws proto::InputError when time does not increase, runs at a rate that only a wrong unit
///         explains, or no stretch is long enough
RowTimes find_row_times(const proto::CsvTable& table, const RecordingFormat& format,
                        const TimeRequests& requests);

}  // namespace service
