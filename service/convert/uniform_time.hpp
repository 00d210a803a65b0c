#pragma once

#include <vector>

#include "proto/text/csv_table.hpp"
#include "service/convert/csv_recording.hpp"
#include "service/convert/recording_format.hpp"

namespace service {

/// A swing takes about a second, and no encoder is read faster than every few microseconds [s].
inline constexpr double kSamplingPeriodMin = 1e-5;
inline constexpr double kSamplingPeriodMax = 0.5;

/// Rows of a table that are one segment.
struct Stretch {
  int first = 0;       ///< row
  int count = 0;       ///< rows
  double start = 0.0;  ///< time of the first row on the uniform grid [s]
};

/// The uniform grid that the time stamps of a recording lie on.
struct UniformTime {
  double period = 0.0;  ///< [s], common to all stretches
  std::vector<Stretch> stretches;
  std::vector<Gap> gaps;
  int dropped_rows = 0;     ///< in stretches too short to keep
  double jitter_max = 0.0;  ///< [periods]
};

/// Finds the sampling period, the gaps and the segments of a recording.
///
/// The period is the pooled least-squares slope of time over row number; a step of more than 1.5
/// periods that is not made up for by the next is a gap.
/// @param time_request     column of time stamps among the table's requests; −1: uses format.rate
/// @param segment_request  column whose change starts a new segment; −1: none
/// @throws proto::InputError when time does not increase, is irregular beyond the tolerance, runs
/// at
///         a rate that only a wrong unit explains, or no stretch is long enough
UniformTime find_uniform_time(const proto::CsvTable& table, const RecordingFormat& format,
                              int time_request, int segment_request);

}  // namespace service
