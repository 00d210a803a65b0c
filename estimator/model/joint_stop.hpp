#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// One end stop of a joint, with current parameter values.
struct JointStop {
  int joint;
  double side;           ///< direction of its force: 1 for a lower stop, −1 for an upper stop
  JointParameter where;  ///< position parameter: kStopLower or kStopUpper
  double position;       ///< joint coordinate of the stop [rad or m]
  double restitution;    ///< coefficient of restitution [-]

  /// Returns the distance of a joint coordinate from the stop, < 0 beyond the stop [rad or m].
  double distance_from_stop(double coordinate) const { return side * (coordinate - position); }
};

/// Returns all end stops, in joint order.
std::vector<JointStop> joint_end_stops(const Mechanism& mechanism);

/// Returns whether the lower stop of every joint is below the upper stop.
bool are_end_stops_ordered(const Mechanism& mechanism);

/// Appends an error for each invalid end stop.
void check_end_stops(const Mechanism& mechanism, std::vector<Message>& errors);

}  // namespace estimator
