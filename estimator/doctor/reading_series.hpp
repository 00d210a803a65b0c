#pragma once

#include <cstddef>
#include <vector>

#include "estimator/model/joint_kind.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// What one sensor read over a segment, or what is left of it without a model: observed readings
/// alone, continuous over turns.
struct ReadingSeries {
  std::vector<double> times;   ///< since the segment's first row [s]
  std::vector<double> values;  ///< [rad or m]
  std::vector<int> rows;       ///< of the segment
  double period = 0.0;         ///< of the segment [s]

  std::size_t size() const { return values.size(); }
  /// Whether `count` readings from `first` on lie close enough together to be looked at as one
  /// motion: at most every other one is missing.
  bool is_dense(std::size_t first, std::size_t count) const {
    return times[first + count - 1] - times[first] <= 2.0 * static_cast<double>(count) * period;
  }
  /// Position of the first reading at or after a row.
  std::size_t at_row(int row) const;
};

/// Readings of a column of a segment's shape, e.g. Segment::angles.col(sensor).
/// @param wraps  whether they are continued over whole turns (JointTraits)
ReadingSeries observed_readings(const Segment& segment,
                                const Eigen::Ref<const Eigen::VectorXd>& readings, bool wraps);

}  // namespace estimator
