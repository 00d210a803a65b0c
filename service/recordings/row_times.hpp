#pragma once

#include <vector>

#include "proto/text/table/csv_table.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/recordings/joined_segments.hpp"
#include "service/recordings/row_clock.hpp"
#include "service/rig/recording_format.hpp"

namespace service {

/// Smallest and largest plausible sampling period [s]. A rig oscillates within about a second, and
/// no encoder is read faster than every few microseconds.
inline constexpr double kSamplingPeriodMin = 1e-5;
inline constexpr double kSamplingPeriodMax = 0.5;

/// Table rows that form one segment of a recording.
struct TableSegment {
  int first = 0;            ///< index of the first row
  int count = 0;            ///< number of rows
  double start = 0.0;       ///< time of the first row [s]; adjusted if sampling is uniform
  std::vector<int> places;  ///< sample number of each row, from 0; missing rows leave gaps
};

/// Sampling times and segments of the rows of a table.
struct RowTimes {
  ImportSummary summary;       ///< with period, jitter, gaps and missing rows
  std::vector<double> stamps;  ///< time stamps of all rows [s]; sampling times if not uniform
  std::vector<TableSegment> segments;
};

/// Subtracts the first time stamp from all time stamps if they are dates or times since 1970 in any
/// unit: times of more than 30 years. Returns a note on the first time stamp; empty if the times
/// are unchanged.
std::string make_times_relative(const RecordingFormat& format, const ColumnIndices& indices,
                                proto::CsvTable& table);

/// Removes the rows outside a time interval, so that their faults do not matter. A row whose time
/// cannot be read has the time of the row before. Keeps all rows if fewer than kSegmentSamplesMin
/// would be left.
void keep_rows_in_window(const TimeWindow& window, const RecordingFormat& format,
                         const ColumnIndices& indices, proto::CsvTable& table);

/// Finds the sampling period, the gaps and the segments of a recording from its time stamps.
///
/// The period is the least-squares slope of time over sample number, pooled over the segments. Rows
/// are missing if a time step exceeds 1.5 periods and the next step does not compensate it. A gap
/// is a run of missing rows that a segment cannot bridge (estimator::can_continue_across_gap).
/// Sampling is not uniform if a time stamp deviates from uniform times by more than the format's
/// tolerance.
/// @param clock  times of the rows, see arrange_rows; a row of unknown control ends its segment
/// @throws proto::InputError if the rate is implausible, or no segment is long enough
RowTimes find_row_times(const proto::CsvTable& table, const RecordingFormat& format,
                        const ColumnIndices& indices, const RowClock& clock);

}  // namespace service
