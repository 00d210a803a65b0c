#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Computes the factor √(cost/(rows − effective parameters)) by which a sensor's noise level must
/// be multiplied to agree with its residuals. Returns 1 if there are no more rows than parameters.
/// @param group  residuals whitened with the current level
double compute_sensor_noise_factor(const NoiseGroupStatistics& group);

/// Returns the factor of each used encoder's noise level. The components of a quaternion have a
/// common level.
/// @param groups  statistics of the encoders come first
Eigen::VectorXd compute_encoder_noise_factors(const Mechanism& mechanism,
                                              const std::vector<NoiseGroupStatistics>& groups);

/// Factor by which each round of noise estimation multiplies the level of insignificant process
/// noise.
inline constexpr double kProcessDrop = 0.03;

/// Estimation of a joint's process noise level over several rounds. Each round solves for states
/// and parameters with the current level.
class ProcessNoiseUpdate {
 public:
  /// Returns whether the process noise is significant. Each round multiplies an insignificant level
  /// by kProcessDrop. The level becomes significant if the sum of squared residuals exceeds its
  /// expectation by three standard deviations. From then on the level is estimated from the
  /// residuals.
  bool is_significant() const { return significant_; }

  /// Computes the factor for the level after a round. If the readings determine most accelerations,
  /// rounds converge only slowly to the level at which residuals agree with their expectation.
  /// Therefore the factor extrapolates the change of the residuals since the last round (secant
  /// method), by at most a factor of four.
  /// @param group  residuals of the process noise, whitened with the current level
  /// @param least  smallest factor, so that the level stays above its minimum
  double compute_noise_level_factor(const NoiseGroupStatistics& group, double least = 0.0);

 private:
  bool significant_ = false;
  double last_excess_ = 0.0;  // log of the ratio of residuals to expectation, in the last round
  double last_change_ = 0.0;  // of the log of the level since then; 0: unknown
};

}  // namespace estimator
