#include "estimator/fit/physical/restarts.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "estimator/model/joint_friction.hpp"

namespace estimator {
namespace {

/// Decay speeds of a Stribeck excess to try, relative to the largest speed. Fits also converge if
/// the true decay speed lies between them.
constexpr double kDecaySpeeds[] = {0.03, 0.1, 0.3, 0.01, 1.0};
constexpr double kVisibleSpeed = 1e-3;   // relative to the fastest; lower has no effect
constexpr double kDecayed = 3.0;         // fastest speed over decay speed: visible decay
constexpr double kSameEverywhere = 0.5;  // the same ratio: the excess loses a fifth
constexpr double kTriedExcess = 0.1;     // of the kinetic torque

std::optional<Mechanism> off_bounds(Mechanism mechanism, const Mechanism& start) {
  bool driven = false;
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    Parameter& parameter = mechanism.parameters[i];
    const double from = start.parameters[i].value;
    const bool at_bound = parameter.value <= parameter.lower || parameter.value >= parameter.upper;
    if (!parameter.free || !at_bound) continue;
    if (from <= parameter.lower || from >= parameter.upper) continue;
    parameter.value = from;
    driven = true;
  }
  if (!driven) return std::nullopt;
  return mechanism;
}

bool is_excess_free(const Mechanism& mechanism, int joint) {
  return mechanism.joint_parameter(joint, JointParameter::kStribeckTorque).free &&
         mechanism.joint_parameter(joint, JointParameter::kStribeckRate).free;
}

bool is_excess_lost(const Mechanism& mechanism, int joint, double max_speed) {
  const Parameter& excess = mechanism.joint_parameter(joint, JointParameter::kStribeckTorque);
  const Parameter& rate = mechanism.joint_parameter(joint, JointParameter::kStribeckRate);
  if (can_friction_rise_from_rest(mechanism, joint) &&
      rate.value < std::pow(kDecayed / max_speed, 2)) {
    return true;  // an excess of the wrong sign represents drag
  }
  if (rate.value < std::pow(kSameEverywhere / max_speed, 2)) return true;
  return excess.value <= excess.lower || excess.value == 0.0 || rate.value <= rate.lower ||
         rate.value > 1.0 / std::pow(kVisibleSpeed * max_speed, 2);
}

/// @param share  excess relative to the kinetic torque
Mechanism with_excess(Mechanism mechanism, int joint, double share, double decay_speed,
                      double max_speed) {
  Parameter& kinetic = mechanism.joint_parameter(joint, JointParameter::kCoulombTorque);
  Parameter& excess = mechanism.joint_parameter(joint, JointParameter::kStribeckTorque);
  Parameter& rate = mechanism.joint_parameter(joint, JointParameter::kStribeckRate);
  const auto set = [](Parameter& parameter, double value) {
    parameter.value = std::clamp(value, parameter.lower, parameter.upper);
  };
  const bool never_decays = rate.value < std::pow(kSameEverywhere / max_speed, 2);
  const bool all_is_excess =
      can_friction_rise_from_rest(mechanism, joint) && kinetic.value <= kinetic.lower;
  if (kinetic.free && (never_decays || all_is_excess)) {
    set(kinetic, kinetic.value + excess.value);
  }
  set(excess, kinetic.value > 0.0 ? share * kinetic.value : excess.value);
  set(rate, 1.0 / (decay_speed * decay_speed));
  return mechanism;
}

}  // namespace

std::vector<Mechanism> choose_restart_values(const Mechanism& reached, const Mechanism& start,
                                             const Eigen::VectorXd& max_speed, bool unexplained) {
  std::vector<Mechanism> chances;
  if (std::optional<Mechanism> freed = off_bounds(reached, start)) {
    chances.push_back(std::move(*freed));
  }
  for (int j = 0; j < reached.joint_count(); ++j) {
    if (!(max_speed[j] > 0.0) || !is_excess_free(reached, j)) continue;
    if (!unexplained && !is_excess_lost(reached, j, max_speed[j])) continue;
    for (const double share : kDecaySpeeds) {
      chances.push_back(with_excess(reached, j, kTriedExcess, share * max_speed[j], max_speed[j]));
      if (!can_friction_rise_from_rest(reached, j)) continue;
      chances.push_back(with_excess(reached, j, -kTriedExcess, share * max_speed[j], max_speed[j]));
    }
  }
  return chances;
}

}  // namespace estimator
