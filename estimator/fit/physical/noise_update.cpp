#include "estimator/fit/physical/noise_update.hpp"

#include <algorithm>
#include <cmath>

namespace estimator {
namespace {

constexpr double kRedundancyMin = 0.5;  // estimated by random probes, with an error of about one
constexpr double kSignificance = 3.0;   // standard deviations above the model's variance

double redundancy_of(const NoiseGroupStatistics& group) {
  return group.rows - group.effective_parameters;
}

}  // namespace

double compute_sensor_noise_factor(const NoiseGroupStatistics& group) {
  const double redundancy = redundancy_of(group);
  return redundancy > kRedundancyMin ? std::sqrt(group.cost / redundancy) : 1.0;
}

ProcessNoiseChange compute_process_noise_change(const NoiseGroupStatistics& group,
                                                bool significant) {
  const double redundancy = std::max(redundancy_of(group), 1.0);
  const double ratio = group.cost / redundancy;
  significant |= ratio > 1.0 + kSignificance * std::sqrt(2.0 / redundancy);
  if (significant) return {std::sqrt(ratio), true};
  return {redundancy > 1.0 ? kProcessDrop : 1.0, false};
}

}  // namespace estimator
