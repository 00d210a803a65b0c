#pragma once

#include <cmath>

namespace estimator {

/// A full turn [rad].
inline constexpr double kWholeTurn = 2.0 * M_PI;

/// Returns the difference of two angles wrapped to [−π, π]; ±π are unchanged. Most differences are
/// small, so the expensive std::remainder is avoided.
inline double wrap_angle_difference(double difference) {
  return std::abs(difference) <= 0.5 * kWholeTurn ? difference
                                                  : std::remainder(difference, kWholeTurn);
}

/// Returns the number of full turns that wrap_angle_difference removes.
inline double removed_full_turns(double difference) {
  return std::round((difference - wrap_angle_difference(difference)) / kWholeTurn);
}

}  // namespace estimator
