#include "service/text/column_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace service {
namespace {

constexpr double kRounding = 1e-5;  // share of the smallest step; less is rounding

double noise_of(const std::vector<double>& values) {
  std::vector<double> differences;
  for (std::size_t k = 3; k < values.size(); ++k) {
    const double d = values[k] - 3.0 * values[k - 1] + 3.0 * values[k - 2] - values[k - 3];
    differences.push_back(std::abs(d));
  }
  const double usual = median(std::move(differences));
  return std::isnan(usual) ? 0.0 : usual / (0.6745 * std::sqrt(20.0));
}

}  // namespace

ColumnStatistics compute_column_statistics(const std::vector<double>& values) {
  ColumnStatistics statistics;
  statistics.low = std::numeric_limits<double>::infinity();
  statistics.high = -statistics.low;
  statistics.smallest_step = statistics.low;
  double last = std::numeric_limits<double>::quiet_NaN();
  for (const double value : values) {
    if (std::isnan(value)) continue;
    ++statistics.observed;
    statistics.low = std::min(statistics.low, value);
    statistics.high = std::max(statistics.high, value);
    const double step = std::abs(value - last);
    if (step > 0.0) statistics.smallest_step = std::min(statistics.smallest_step, step);
    last = value;
  }
  if (!std::isfinite(statistics.smallest_step)) statistics.smallest_step = 0.0;
  statistics.noise = noise_of(values);
  const bool rises = std::ranges::adjacent_find(values, std::greater_equal<>{}) == values.end();
  if (rises && statistics.noise < kRounding * statistics.smallest_step) statistics.noise = 0.0;
  return statistics;
}

double median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace service
