#pragma once

#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Computes the factor √(cost/(rows − effective parameters)) by which a sensor's noise level must
/// be multiplied to agree with its residuals. Returns 1 if there are no more rows than parameters.
/// @param group  residuals whitened with the current level
double compute_sensor_noise_factor(const NoiseGroupStatistics& group);

/// Factor by which each round of noise estimation reduces insignificant process noise.
inline constexpr double kProcessDrop = 0.03;

/// Estimation of a joint's process noise level over several rounds. Each round solves for states
/// and parameters with the current level.
class ProcessNoiseUpdate {
 public:
  /// Whether the process noise is significant. An insignificant level is multiplied by kProcessDrop
  /// in each round. The level becomes significant if the sum of squared residuals exceeds its
  /// expectation by three standard deviations. From then on the level is estimated from the
  /// residuals.
  bool is_significant() const { return significant_; }

  /// Computes the factor for the level after a round. Rounds approach the level at which residuals
  /// agree with their expectation only slowly if the readings determine most accelerations.
  /// Therefore the factor extrapolates the change of the residuals since the last round (secant
  /// method), to at most a factor of four.
  /// @param group  defects whitened with the current level
  /// @param least  smallest factor, so that the level stays above its minimum
  double compute_factor(const NoiseGroupStatistics& group, double least = 0.0);

 private:
  bool significant_ = false;
  double last_excess_ = 0.0;  // log of the ratio of residuals to expectation, in the last round
  double last_change_ = 0.0;  // of the log of the level since then; 0: unknown
};

}  // namespace estimator
