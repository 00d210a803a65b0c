#pragma once

#include <vector>

#include "proto/text/csv_table.hpp"
#include "service/import/csv_recording.hpp"
#include "service/import/joined_segments.hpp"
#include "service/import/recording_format.hpp"

namespace service {

/// Plausible sampling periods: an oscillation takes about a second, and no encoder is read faster
/// than every few microseconds [s].
inline constexpr double kSamplingPeriodMin = 1e-5;
inline constexpr double kSamplingPeriodMax = 0.5;

/// Rows of one segment in a table.
struct RowSegment {
  int first = 0;            ///< row index
  int count = 0;            ///< number of rows
  double start = 0.0;       ///< time of the first row [s]; on the grid for a uniform clock
  std::vector<int> places;  ///< grid index of each row, from 0; missing rows leave indices unused
};

/// Sampling times of a table's rows.
struct RowTimes {
  double period = 0.0;         ///< [s], of all segments; the mean if sampling is not uniform
  bool is_uniform = true;      ///< uniform sampling; else `stamps` are used as they are
  std::vector<double> stamps;  ///< of all rows [s]
  std::vector<RowSegment> segments;
  std::vector<Gap> gaps;
  MissingRows holes;        ///< missing rows within segments, for uniform sampling
  int dropped_rows = 0;     ///< in segments too short to keep
  double jitter_max = 0.0;  ///< largest deviation of a stamp from the grid [periods]
};

/// Indices of columns among a table's requests.
struct TimeColumns {
  int time = -1;          ///< time stamps; −1: use format.rate
  int segment = -1;       ///< its change starts a new segment; −1: none
  int first_control = 0;  ///< first of the format's controls
};

/// Finds the sampling period, the gaps and the segments of a recording.
///
/// The period is the pooled least-squares slope of time over grid index. A step of more than 1.5
/// periods that the next one does not compensate is a hole. A hole that a segment cannot continue
/// over (estimator::continues_across_gap) is a gap. If a stamp deviates from the grid by more than
/// the format's tolerance, sampling is not uniform.
/// @throws proto::InputError if time does not increase, the rate is implausible, or no segment is
///         long enough
RowTimes find_row_times(const proto::CsvTable& table, const RecordingFormat& format,
                        const TimeColumns& requests);

}  // namespace service
