#pragma once

#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Factor that makes a sensor's noise level consistent with its residuals, σ² ← σ² cost/(rows −
/// effective parameters); 1 if the parameters use up all rows.
///
/// @param group  residuals whitened with the current level
double sensor_noise_factor(const GroupStatistics& group);

/// Factor on the process noise per round while it is insignificant.
inline constexpr double kProcessDrop = 0.03;

/// Change of the process noise of one joint.
struct ProcessNoiseChange {
  double factor;     ///< on the level
  bool significant;  ///< whether the process noise is significant
};

/// The level decreases in stages while it is insignificant. It is significant once its residuals
/// exceed their expectation by three standard deviations; from then on it follows them.
///
/// @param group  defects whitened with the current level
/// @param seen   whether it was significant in an earlier round
ProcessNoiseChange process_noise_change(const GroupStatistics& group, bool significant);

}  // namespace estimator
