#pragma once

#include <vector>

namespace service {

/// What a look at one column tells.
struct ColumnStatistics {
  int observed = 0;  ///< values that are not NaN
  double low = 0.0;
  double high = 0.0;
  double smallest_step = 0.0;  ///< smallest change between neighbours that is not zero
  double noise = 0.0;          ///< standard deviation of white noise, see below
};

/// Statistics of a column; NaN means "not observed".
///
/// The noise is estimated from third differences, which a smooth motion leaves small: white noise
/// of standard deviation σ gives them the standard deviation √20 σ. The median of their magnitude
/// (0.6745 of the standard deviation) ignores outliers. 0 for fewer than four values, and of
/// what rises in steps that are even but for their rounding.
ColumnStatistics column_statistics(const std::vector<double>& values);

}  // namespace service
