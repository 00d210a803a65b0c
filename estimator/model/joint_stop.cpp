#include "estimator/model/joint_stop.hpp"

#include <algorithm>

#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

/// Whether the lower stop of the joint lies below the upper one.
bool is_apart(const Mechanism& mechanism, int joint) {
  const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(joint)];
  return !hinge.stops_lower || !hinge.stops_upper ||
         mechanism.hinge_parameter(joint, HingeQuantity::kStopLower).value <
             mechanism.hinge_parameter(joint, HingeQuantity::kStopUpper).value;
}

}  // namespace

std::vector<JointStop> joint_stops(const Mechanism& mechanism) {
  std::vector<JointStop> stops;
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(j)];
    const double restitution = mechanism.hinge_parameter(j, HingeQuantity::kRestitution).value;
    const auto add = [&](double side, HingeQuantity where) {
      stops.push_back({j, side, where, mechanism.hinge_parameter(j, where).value, restitution});
    };
    if (hinge.stops_lower) add(1.0, HingeQuantity::kStopLower);
    if (hinge.stops_upper) add(-1.0, HingeQuantity::kStopUpper);
  }
  return stops;
}

bool are_stops_apart(const Mechanism& mechanism) {
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    if (!is_apart(mechanism, j)) return false;
  }
  return true;
}

void check_stops(const Mechanism& mechanism, std::vector<std::string>& faults) {
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(j)];
    if (!hinge.stops_lower && !hinge.stops_upper) continue;
    if (!is_tree(mechanism)) {
      faults.push_back("joint \"" + hinge.name +
                       "\" has end stops, which are not supported with closed loops or joints that "
                       "follow others; remove its stops");
    }
    if (!is_apart(mechanism, j)) {
      faults.push_back("parameter \"" +
                       mechanism.hinge_parameter(j, HingeQuantity::kStopLower).name +
                       "\": the lower stop must be below the upper one; exchange or move them");
    }
  }
}

}  // namespace estimator
