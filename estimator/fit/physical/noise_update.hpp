#pragma once

#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Factor on the noise level of a sensor with which it agrees with its residuals,
/// σ² ← σ² cost/(rows − effective parameters); 1 where the parameters use up all rows.
///
/// @param group  of residuals whitened with the level so far
double sensor_noise_factor(const GroupStatistics& group);

/// Factor on a process noise from round to round while the data show none.
inline constexpr double kProcessDrop = 0.03;

/// What becomes of the process noise of one hinge.
struct ProcessNoiseChange {
  double factor;  ///< on the level
  bool seen;      ///< whether the data show that there is any
};

/// While the data show none, the level falls in stages; where its residuals exceed what it explains
/// by three of their deviations, it is seen, and from then on follows them.
///
/// @param group  of defects whitened with the level so far
/// @param seen   in an earlier round
ProcessNoiseChange process_noise_change(const GroupStatistics& group, bool seen);

}  // namespace estimator
