#include "estimator/assessment/intervals/bootstrap_intervals.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "estimator/math/distributions.hpp"

namespace estimator {
namespace {

constexpr double kTail = 0.025;  // probability outside each end of a 95 % interval
constexpr std::size_t kAccelerationPartsMin = 5;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Returns Σ (mean − value)^power.
double central_sum(const std::vector<double>& values, int power) {
  const double mean = mean_of(values);
  double sum = 0.0;
  for (const double value : values) sum += std::pow(mean - value, power);
  return sum;
}

/// Returns a quantile of sorted values, with linear interpolation.
double quantile_of(const std::vector<double>& sorted, double probability) {
  const double place = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

/// Returns the probability whose quantile ends the BCa interval [Efr93, eq. 14.10].
/// @param bias  z₀, the quantile of the normal distribution at the share of draws below the
/// estimate
/// @param tail  quantile of the normal distribution at the end without corrections
double corrected_probability(double bias, double tail, double acceleration) {
  const double shifted = bias + tail;
  return standard_normal_probability(bias + shifted / (1.0 - acceleration * shifted));
}

}  // namespace

BootstrapDistribution summarize_draws(std::vector<double> draws, double estimate,
                                      double acceleration) {
  std::erase_if(draws, [](double value) { return std::isnan(value); });
  BootstrapDistribution result;
  result.draws = static_cast<int>(draws.size());
  if (draws.size() < 2) return result;
  std::ranges::sort(draws);
  const auto count = static_cast<double>(draws.size());
  result.mean = mean_of(draws);
  result.standard_deviation = std::sqrt(central_sum(draws, 2) / (count - 1.0));
  result.lower = quantile_of(draws, kTail);
  result.upper = quantile_of(draws, 1.0 - kTail);
  // Draws equal to the estimate count half. At least half a draw on either side keeps z₀ finite.
  const auto below = std::ranges::lower_bound(draws, estimate) - draws.begin();
  const auto above = draws.end() - std::ranges::upper_bound(draws, estimate);
  const double share = std::clamp(0.5 + 0.5 * static_cast<double>(below - above) / count,
                                  0.5 / count, 1.0 - 0.5 / count);
  const double bias = standard_normal_quantile(share), tail = standard_normal_quantile(kTail);
  result.bca_lower = quantile_of(draws, corrected_probability(bias, tail, acceleration));
  result.bca_upper = quantile_of(draws, corrected_probability(bias, -tail, acceleration));
  return result;
}

double estimate_bca_acceleration(const std::vector<double>& without_one) {
  std::vector<double> values = without_one;
  std::erase_if(values, [](double value) { return std::isnan(value); });
  if (values.size() < kAccelerationPartsMin) return 0.0;
  const double squares = central_sum(values, 2);
  return squares > 0.0 ? central_sum(values, 3) / (6.0 * std::pow(squares, 1.5)) : 0.0;
}

double compute_jackknife_deviation(const std::vector<double>& without_one) {
  const auto count = static_cast<double>(without_one.size());
  if (count < 2.0) return std::numeric_limits<double>::quiet_NaN();
  return std::sqrt((count - 1.0) / count * central_sum(without_one, 2));
}

}  // namespace estimator
