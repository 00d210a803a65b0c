#pragma once

#include <cmath>

namespace estimator {

/// A whole turn [rad].
inline constexpr double kWholeTurn = 2.0 * M_PI;

/// A difference of two angles as it is to be judged: it knows no whole turns. Exactly half a turn
/// stays on its side. Most differences are small, and a remainder is dear.
inline double turn_difference(double difference) {
  return std::abs(difference) <= 0.5 * kWholeTurn ? difference
                                                  : std::remainder(difference, kWholeTurn);
}

/// The whole turns that a difference of two angles holds beside that.
inline double whole_turns(double difference) {
  return std::round((difference - turn_difference(difference)) / kWholeTurn);
}

}  // namespace estimator
