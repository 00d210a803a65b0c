#pragma once

#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Returns the factor by which to multiply a sensor's noise level σ to agree with its residuals:
/// √(cost/(rows − effective parameters)). Returns 1 if the parameters use up all rows.
///
/// @param group  residuals whitened with the current level
double compute_sensor_noise_factor(const NoiseGroupStatistics& group);

/// Factor that reduces insignificant process noise in each round.
inline constexpr double kProcessDrop = 0.03;

/// Change of a joint's process noise level in one round.
struct ProcessNoiseChange {
  double factor;     ///< factor on the noise level
  bool significant;  ///< whether the process noise is now significant
};

/// Returns how to change a joint's process noise level. The level is reduced by kProcessDrop while
/// it is insignificant. It is significant once the sum of squared residuals exceeds its expectation
/// by three standard deviations; from then on the level follows the residuals.
///
/// @param group        defects whitened with the current level
/// @param significant  whether the process noise was significant in an earlier round
ProcessNoiseChange compute_process_noise_change(const NoiseGroupStatistics& group,
                                                bool significant);

}  // namespace estimator
