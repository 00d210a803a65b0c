#pragma once

#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// One end stop of one joint, as the parameters have it.
struct JointStop {
  int joint;
  double side;          ///< which way it pushes: 1 the lower stop, −1 the upper one
  HingeQuantity where;  ///< kStopLower or kStopUpper
  double position;      ///< of the joint's coordinate [rad or m]
  double restitution;   ///< [-]

  /// How far a coordinate is from the stop, < 0 beyond it [rad or m].
  double distance(double coordinate) const { return side * (coordinate - position); }
};

/// All end stops, by joint.
std::vector<JointStop> joint_stops(const Mechanism& mechanism);

/// Whether every joint has some way between its stops.
bool are_stops_apart(const Mechanism& mechanism);

/// What is wrong with end stops, one sentence each (find_faults).
void check_stops(const Mechanism& mechanism, std::vector<std::string>& faults);

}  // namespace estimator
