#include "estimator/model/joint_stop.hpp"

#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

/// Returns whether the lower stop of a joint is below the upper stop.
bool is_apart(const Mechanism& mechanism, int index) {
  const Joint& joint = mechanism.joints[index];
  return !joint.stops.lower || !joint.stops.upper ||
         mechanism.joint_parameter(index, JointParameter::kStopLower).value <
             mechanism.joint_parameter(index, JointParameter::kStopUpper).value;
}

}  // namespace

std::vector<JointStop> joint_end_stops(const Mechanism& mechanism) {
  std::vector<JointStop> stops;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const Joint& joint = mechanism.joints[j];
    const double restitution = mechanism.joint_parameter(j, JointParameter::kRestitution).value;
    const auto add = [&](double side, JointParameter where) {
      stops.push_back({j, side, where, mechanism.joint_parameter(j, where).value, restitution});
    };
    if (joint.stops.lower) add(1.0, JointParameter::kStopLower);
    if (joint.stops.upper) add(-1.0, JointParameter::kStopUpper);
  }
  return stops;
}

bool are_end_stops_ordered(const Mechanism& mechanism) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (!is_apart(mechanism, j)) return false;
  }
  return true;
}

void check_end_stops(const Mechanism& mechanism, std::vector<Message>& errors) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const Joint& joint = mechanism.joints[j];
    if (!joint.stops.lower && !joint.stops.upper) continue;
    if (!is_tree_mechanism(mechanism))
      errors.push_back({MessageCode::kStopsInLoop, {{"joint", joint.name}}});
    if (!is_apart(mechanism, j)) {
      errors.push_back(
          {MessageCode::kReversedStops,
           {{"parameter", mechanism.joint_parameter(j, JointParameter::kStopLower).name}}});
    }
  }
}

}  // namespace estimator
