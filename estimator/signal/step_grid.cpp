#include "estimator/signal/step_grid.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace estimator {
namespace {

constexpr double kRatioTolerance = 1e-6;
constexpr double kRatioMax = 1e9;  // fits an int

}  // namespace

std::optional<int> round_to_integer_ratio(double ratio) {
  const double whole = std::round(ratio);
  const bool is_whole =
      whole >= 1.0 && ratio <= kRatioMax && std::abs(ratio - whole) < kRatioTolerance * ratio;
  return is_whole ? std::optional<int>(static_cast<int>(whole)) : std::nullopt;
}

StepToPeriodRatio step_to_period_ratio(double step, double period) {
  if (step > 0.0 && period > 0.0) {
    if (const auto periods = round_to_integer_ratio(step / period)) return {*periods, 1};
    if (const auto steps = round_to_integer_ratio(period / step)) return {1, *steps};
  }
  throw std::invalid_argument(
      "the time step must be a whole multiple or a whole fraction of the sampling period. "
      "The time step is " +
      std::to_string(step) + " s, the sampling period " + std::to_string(period) + " s");
}

double nearest_compatible_step(double step, double period, double tolerance) {
  const double ratio = step / period;
  const double nearest =
      ratio >= 1.0 ? period * std::round(ratio) : period / std::round(1.0 / ratio);
  return std::abs(nearest - step) <= tolerance * step ? nearest : step;
}

double tick_dividing_steps(double longest, double period) {
  const double ratio = longest / period;
  return ratio >= 1.0 ? period : period / std::ceil(1.0 / ratio * (1.0 - kStepExcess));
}

int tick_count_of_step(double longest, double tick) {
  return std::max(1, static_cast<int>(std::floor(longest / tick * (1.0 + kStepExcess))));
}

int tick_count_of_duration(double duration, double tick) {
  // The tolerance is relative to a tick, not to the duration.
  return std::max(1, static_cast<int>(std::ceil(duration / tick - kRatioTolerance)));
}

int step_end_tick(int begin, int ticks, int in_period) {
  const int sample = (begin + ticks) / in_period * in_period;
  return sample > begin ? sample : begin + ticks;
}

double longest_compatible_step(double longest, double period) {
  const double tick = tick_dividing_steps(longest, period);
  return tick * tick_count_of_step(longest, tick);
}

}  // namespace estimator
