#pragma once

#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Computes the factor √(cost/(rows − effective parameters)) by which a sensor's noise level must
/// be multiplied to agree with its residuals. Returns 1 if there are no more rows than parameters.
/// @param group  residuals whitened with the current level
double compute_sensor_noise_factor(const NoiseGroupStatistics& group);

/// Factor by which each round of noise estimation reduces insignificant process noise.
inline constexpr double kProcessDrop = 0.03;

/// The change of a joint's process noise level in one round of noise estimation.
struct ProcessNoiseChange {
  double factor;     ///< factor on the noise level
  bool significant;  ///< whether the process noise is now significant
};

/// Computes the change of a joint's process noise level. An insignificant level is multiplied by
/// kProcessDrop. The level becomes significant if the sum of squared residuals exceeds its
/// expectation by three standard deviations. From then on the level is estimated from the
/// residuals.
/// @param group        defects whitened with the current level
/// @param significant  whether the process noise was significant in an earlier round
ProcessNoiseChange compute_process_noise_change(const NoiseGroupStatistics& group,
                                                bool significant);

}  // namespace estimator
