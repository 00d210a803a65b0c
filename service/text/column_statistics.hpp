#pragma once

#include <vector>

namespace service {

/// Statistics of one column of numbers.
struct ColumnStatistics {
  int observed = 0;  ///< number of values that are not NaN
  double low = 0.0;
  double high = 0.0;
  double smallest_step = 0.0;  ///< smallest nonzero change between observed neighbours
  double noise = 0.0;          ///< standard deviation of the white noise, see column_statistics
};

/// Returns the statistics of a column. NaN means "not observed".
///
/// The noise is estimated from third differences, which are small for a smooth motion. White noise
/// of standard deviation σ gives third differences of standard deviation √20 σ. The median of their
/// magnitude (0.6745 of their standard deviation) is robust against outliers. The noise is 0 for
/// fewer than four values, and for a column that rises in steps equal up to rounding.
ColumnStatistics column_statistics(const std::vector<double>& values);

}  // namespace service
