#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/recording/recording_reader.hpp"
#include "proto/recording/recording_types.hpp"

namespace proto {

/// Samples without a gap, at equal distances in time: row k at start_s + k·period_s.
struct SeriesSegment {
  double start_s = 0.0;              ///< on the recording's clock
  double period_s = 0.0;             ///< > 0
  std::uint64_t first_sequence = 0;  ///< of row 0; the others follow one by one
  std::size_t row_count = 0;
  std::vector<double> angle_rad;  ///< row_count × hinges, row by row; NaN where not valid
  std::vector<double> command;    ///< row_count × commands, row by row; held over [t_k, t_{k+1})
};

struct Series {
  std::vector<std::string> hinges;
  std::size_t command_count = 1;        ///< of each row: RecordingShape::commands
  std::vector<SeriesSegment> segments;  ///< in order of time
};

/// A recording as uniform series, cut wherever samples are missing or the unit's clock jumped by
/// more than half a period. The period is the median distance of neighbours on the unit's clock,
/// whose rate the last ClockFit of the recording corrects. Single samples between two gaps are left
/// out.
///
/// @return kDamaged if there are not two consecutive samples, or their times do not increase
Result<Series> make_series(const Recording& recording);

}  // namespace proto
