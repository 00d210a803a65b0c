#pragma once

#include <utility>
#include <vector>

namespace service {

/// Range, resolution and noise of a column of numbers, such as the readings of a sensor.
struct ColumnStatistics {
  int observed = 0;            ///< number of values that are not NaN
  double low = 0.0;            ///< smallest value
  double high = 0.0;           ///< largest value
  double smallest_step = 0.0;  ///< smallest nonzero change between successive values
  double noise = 0.0;          ///< standard deviation of the white noise
};

/// Computes range, resolution and noise of a column of numbers. NaN marks a missing value. The
/// noise is 0 for fewer than four values, and for a column that rises in equal steps (up to
/// rounding).
///
/// The noise is estimated from third differences, which are small for a smooth motion. Each is
/// divided by its standard deviation for white noise of standard deviation 1 (√20 without missing
/// values). The median magnitude of these quotients, divided by 0.6745, is the noise; it is robust
/// against outliers.
ColumnStatistics compute_column_statistics(const std::vector<double>& values);

/// Returns the smallest and the largest value of a column. Ignores values as false readings if they
/// are in at most five successive rows and enlarge the range by more than a factor of 3.
std::pair<double, double> find_range_without_spikes(const std::vector<double>& values);

/// Returns the median of numbers. For an even count it is the upper of the two middle numbers. NaN
/// marks a missing value. Returns NaN if there are no numbers.
double median(std::vector<double> values);

}  // namespace service
