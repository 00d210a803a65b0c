#include "estimator/fit/physical/noise_update.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/model/quaternion_encoders.hpp"

namespace estimator {
namespace {

constexpr double kRedundancyMin = 0.5;  // estimated by random probes, with an error of about one
constexpr double kSignificance = 3.0;   // standard deviations above the model's variance
constexpr double kLeastRatio = 1e-6;    // of residuals to their expectation, squared
constexpr double kNoiseGrowth = 4.0;    // largest factor on a level by extrapolation

double redundancy_of(const NoiseGroupStatistics& group) {
  return group.rows - group.effective_parameters;
}

}  // namespace

double compute_sensor_noise_factor(const NoiseGroupStatistics& group) {
  const double redundancy = redundancy_of(group);
  return redundancy > kRedundancyMin ? std::sqrt(group.cost / redundancy) : 1.0;
}

Eigen::VectorXd compute_encoder_noise_factors(const Mechanism& mechanism,
                                              const std::vector<NoiseGroupStatistics>& groups) {
  const std::vector<Encoder> encoders = used_encoders(mechanism);
  Eigen::VectorXd factors(std::ssize(encoders));
  for_each_encoder_group(encoders, [&](std::size_t first, std::size_t count) {
    NoiseGroupStatistics sum;
    for (std::size_t i = first; i < first + count; ++i) {
      sum.rows += groups[i].rows;
      sum.cost += groups[i].cost;
      sum.effective_parameters += groups[i].effective_parameters;
    }
    factors.segment(static_cast<Eigen::Index>(first), static_cast<Eigen::Index>(count))
        .setConstant(compute_sensor_noise_factor(sum));
  });
  return factors;
}

double ProcessNoiseUpdate::compute_noise_level_factor(const NoiseGroupStatistics& group,
                                                      double least) {
  const double redundancy = std::max(redundancy_of(group), 1.0);
  const double ratio = group.cost / redundancy;
  if (!significant_) {
    significant_ = ratio > 1.0 + kSignificance * std::sqrt(2.0 / redundancy);
    if (!significant_) return std::max(redundancy > 1.0 ? kProcessDrop : 1.0, least);
  }
  const double excess = 0.5 * std::log(std::max(ratio, kLeastRatio));
  double change = excess;
  if (last_change_ != 0.0) {
    const double slope = (excess - last_excess_) / last_change_;
    const double longest = std::max(std::abs(excess), std::log(kNoiseGrowth));
    const double length = slope < 0.0 ? std::min(-std::abs(excess) / slope, longest) : longest;
    change = std::copysign(std::max(length, std::abs(excess)), excess);
  }
  const double factor = std::max(std::exp(change), least);
  last_excess_ = excess;
  last_change_ = std::log(factor);
  return factor;
}

}  // namespace estimator
