#include "service/text/column_statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <utility>

namespace service {
namespace {

constexpr double kRounding = 1e-5;  // share of the smallest step; less is rounding

/// A value at its place in a column.
struct PlacedValue {
  double place = 0.0, value = 0.0;
};

/// Returns the third difference of four values at increasing places, divided by its standard
/// deviation for white noise of standard deviation 1.
double third_difference(const std::array<PlacedValue, 4>& v) {
  if (v[3].place - v[0].place == 3.0) {
    return (v[3].value - 3.0 * v[2].value + 3.0 * v[1].value - v[0].value) / std::sqrt(20.0);
  }
  double sum = 0.0, squares = 0.0;
  for (const PlacedValue& each : v) {
    double weight = 1.0;
    for (const PlacedValue& other : v) {
      if (other.place != each.place) weight /= each.place - other.place;
    }
    sum += weight * each.value;
    squares += weight * weight;
  }
  return sum / std::sqrt(squares);
}

double noise_of(const std::vector<double>& values) {
  constexpr std::size_t kDifferencesMax = 1'000'000;  // enough for a median
  const std::size_t stride = 1 + values.size() / kDifferencesMax;
  std::vector<double> differences;
  std::array<PlacedValue, 4> last = {};
  std::size_t observed = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (std::isnan(values[k])) continue;
    last = {last[1], last[2], last[3], {static_cast<double>(k), values[k]}};
    if (++observed < last.size() || observed % stride != 0) continue;
    differences.push_back(std::abs(third_difference(last)));
  }
  const double usual = median(std::move(differences));
  return std::isnan(usual) ? 0.0 : usual / 0.6745;
}

std::pair<double, double> range_of(std::span<const double> values) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return {low, high};
}

/// Returns the running medians of values that are not NaN.
std::vector<double> running_medians(std::vector<double> values, std::size_t window) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  std::vector<double> medians;
  for (auto at = values.begin(); values.end() - at >= static_cast<std::ptrdiff_t>(window); ++at) {
    medians.push_back(median({at, at + static_cast<std::ptrdiff_t>(window)}));
  }
  return medians;
}

/// Returns the range of most values: without the lowest and the highest 5 % of a sample.
double usual_range(const std::vector<double>& values) {
  constexpr std::size_t kSampleMax = 10'000;
  std::vector<double> sample;
  for (std::size_t k = 0; k < values.size(); k += 1 + values.size() / kSampleMax) {
    if (!std::isnan(values[k])) sample.push_back(values[k]);
  }
  if (sample.empty()) return 0.0;
  std::ranges::sort(sample);
  return sample[95 * (sample.size() - 1) / 100] - sample[5 * sample.size() / 100];
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

std::pair<double, double> find_range_without_spikes(const std::vector<double>& values) {
  constexpr double kSpikeRange = 3.0;
  constexpr std::size_t kWindow = 11;  // more than twice the rows of a spike
  const auto all = range_of(values);
  const double range = all.second - all.first;
  if (!(range > kSpikeRange * usual_range(values))) return all;
  const auto smooth = range_of(running_medians(values, kWindow));
  const double smooth_range = smooth.second - smooth.first;
  return smooth_range > 0.0 && range > kSpikeRange * smooth_range ? smooth : all;
}

double median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace service
