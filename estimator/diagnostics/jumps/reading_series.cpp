#include "estimator/diagnostics/jumps/reading_series.hpp"

#include <algorithm>
#include <cmath>

namespace estimator {

std::size_t ReadingSeries::at_row(int row) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(rows, row) - rows.begin());
}

ReadingSeries observed_readings(const Segment& segment,
                                const Eigen::Ref<const Eigen::VectorXd>& readings, bool wraps) {
  ReadingSeries series;
  series.period = segment.period;
  for (Eigen::Index k = 0; k < readings.size(); ++k) {
    if (std::isnan(readings[k])) continue;
    // A reading that jumps by a full turn is the same angle.
    double value = readings[k];
    if (!series.values.empty()) {
      const double change = value - series.values.back();
      value = series.values.back() + (wraps ? wrapped_difference(change) : change);
    }
    series.times.push_back(segment.time(k));
    series.values.push_back(value);
    series.rows.push_back(static_cast<int>(k));
  }
  return series;
}

}  // namespace estimator
