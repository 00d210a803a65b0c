#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/recording/recording_reader.hpp"
#include "proto/recording/recording_types.hpp"

namespace proto {

/// Equally spaced samples without a gap: row k is at start_s + k·period_s.
struct SeriesSegment {
  double start_s = 0.0;              ///< on the recording's clock
  double period_s = 0.0;             ///< > 0
  std::uint64_t first_sequence = 0;  ///< of row 0; increases by 1 per row
  std::size_t row_count = 0;
  std::vector<double> angle_rad;  ///< row_count × joints, row by row; NaN where not valid
  std::vector<double> command;  ///< row_count × commands, row by row; constant over [t_k, t_{k+1})
};

struct Series {
  std::vector<std::string> joints;
  std::size_t command_count = 1;        ///< commands per row: RecordingShape::commands
  std::vector<SeriesSegment> segments;  ///< in order of time
};

/// Returns a recording as equally spaced samples, in a new segment where samples are missing or the
/// unit's clock jumped by more than half a period. The period is the median time between samples on
/// the unit's clock, corrected by the last ClockFit. A single sample between two gaps is dropped.
///
/// @return kDamaged if there are no two consecutive samples, or their times do not increase
Result<Series> make_series(const Recording& recording);

}  // namespace proto
