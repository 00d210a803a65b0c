#pragma once

#include <cstddef>
#include <vector>

#include "estimator/model/joint_kind.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// The readings of one sensor over a segment, or their residuals. Contains no missing readings, and
/// is continuous over full turns.
struct ReadingSeries {
  std::vector<double> times;   ///< since the segment's first row [s]
  std::vector<double> values;  ///< [rad or m]
  std::vector<int> rows;       ///< row of each reading in the segment
  double period = 0.0;         ///< sampling period of the segment [s]

  std::size_t size() const { return values.size(); }
  /// Returns whether `count` readings from `first` on are dense enough to form one motion: at most
  /// every other reading is missing.
  bool is_dense(std::size_t first, std::size_t count) const {
    return times[first + count - 1] - times[first] <= 2.0 * static_cast<double>(count) * period;
  }
  /// Returns the index in the series of the first reading at or after a row of the segment.
  std::size_t at_row(int row) const;
};

/// Returns the observed readings in a column of a segment, such as Segment::angles.col(sensor).
/// @param wraps  whether readings wrap after a full turn and are to be unwrapped (JointTraits)
ReadingSeries observed_readings(const Segment& segment,
                                const Eigen::Ref<const Eigen::VectorXd>& readings, bool wraps);

}  // namespace estimator
