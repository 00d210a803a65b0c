#pragma once

#include <optional>
#include <vector>

namespace service {

/// Sampling times of rows that arrived in bursts, for example four rows every 20 ms from a USB
/// serial adapter.
struct BurstClock {
  std::vector<double> times;  ///< sampling times of all rows, ascending [s]
  double period = 0.0;        ///< sampling period [s]
  int rows = 0;               ///< usual number of rows of a burst
  double interval = 0.0;      ///< usual time between two bursts [s]
  double jitter_p99 = 0.0;    ///< 99 % of the bursts deviate less from the sample clock [s]
  double jitter_max = 0.0;    ///< largest deviation of a burst from the sample clock [s]
};

/// Recovers the sample clock of rows that arrive in bursts. Returns nullopt if the rows do not come
/// in bursts, or if rows are missing inside bursts.
///
/// Rows come in bursts if short time steps alternate with long ones, and the readings change as
/// much over a short step as over a long one: then the rows were sampled at equal intervals. The
/// period is the slope of arrival time over row number, taken at the last row of each burst: the
/// median slope, corrected by least squares without late bursts. A sampling time precedes the
/// arrival time by at most one burst interval.
/// @param arrivals  arrival times, not decreasing [s]
/// @param readings  columns of readings, one value per row; NaN if missing
std::optional<BurstClock> recover_burst_clock(const std::vector<double>& arrivals,
                                              const std::vector<std::vector<double>>& readings);

/// Returns the mean time between successive rows, without pauses. A time step that is much longer
/// than the 95 % quantile of all positive time steps is a pause and counts as one step of this
/// quantile. Returns 0 for fewer than two rows.
double mean_time_step(const std::vector<double>& times);

}  // namespace service
