#pragma once

#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// One end stop of one joint, with current parameter values.
struct JointStop {
  int joint;
  double side;          ///< direction of its push: 1 for the lower stop, −1 for the upper one
  JointQuantity where;  ///< kStopLower or kStopUpper
  double position;      ///< joint coordinate of the stop [rad or m]
  double restitution;   ///< [-]

  /// Distance of a coordinate from the stop, < 0 beyond it [rad or m].
  double distance(double coordinate) const { return side * (coordinate - position); }
};

/// All end stops, by joint.
std::vector<JointStop> joint_stops(const Mechanism& mechanism);

/// Whether the lower stop of every joint lies below the upper one.
bool are_stops_apart(const Mechanism& mechanism);

/// Appends one sentence for each invalid end stop (find_faults).
void check_stops(const Mechanism& mechanism, std::vector<std::string>& faults);

}  // namespace estimator
