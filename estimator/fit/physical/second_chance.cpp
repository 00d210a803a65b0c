#include "estimator/fit/physical/second_chance.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "estimator/model/rest_friction.hpp"

namespace estimator {
namespace {

/// Decay speeds of an excess to try, relative to the fastest; fits converge from between them.
constexpr double kDecaySpeeds[] = {0.03, 0.1, 0.3, 0.01, 1.0};
constexpr double kVisibleSpeed = 1e-3;  // of the fastest; a lower decay speed has no visible effect
constexpr double kDecayed = 3.0;        // fastest over decay speed: visible decay
constexpr double kSameEverywhere = 0.5;  // likewise; an excess loses a fifth there
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

bool is_excess_free(const Mechanism& mechanism, int hinge) {
  return mechanism.hinge_parameter(hinge, HingeQuantity::kStribeckTorque).free &&
         mechanism.hinge_parameter(hinge, HingeQuantity::kStribeckRate).free;
}

bool is_excess_lost(const Mechanism& mechanism, int hinge, double fastest) {
  const Parameter& excess = mechanism.hinge_parameter(hinge, HingeQuantity::kStribeckTorque);
  const Parameter& rate = mechanism.hinge_parameter(hinge, HingeQuantity::kStribeckRate);
  if (may_rise_from_rest(mechanism, hinge) && rate.value < std::pow(kDecayed / fastest, 2)) {
    return true;  // with the wrong sign it represents drag, and hardly decays
  }
  if (rate.value < std::pow(kSameEverywhere / fastest, 2)) return true;
  return excess.value <= excess.lower || excess.value == 0.0 || rate.value <= rate.lower ||
         rate.value > 1.0 / std::pow(kVisibleSpeed * fastest, 2);
}

/// @param share  excess relative to the kinetic torque
Mechanism with_excess(Mechanism mechanism, int hinge, double share, double decay_speed,
                      double fastest) {
  Parameter& kinetic = mechanism.hinge_parameter(hinge, HingeQuantity::kCoulombTorque);
  Parameter& excess = mechanism.hinge_parameter(hinge, HingeQuantity::kStribeckTorque);
  Parameter& rate = mechanism.hinge_parameter(hinge, HingeQuantity::kStribeckRate);
  const auto set = [](Parameter& parameter, double value) {
    parameter.value = std::clamp(value, parameter.lower, parameter.upper);
  };
  const bool never_decays = rate.value < std::pow(kSameEverywhere / fastest, 2);
  const bool all_is_excess = may_rise_from_rest(mechanism, hinge) && kinetic.value <= kinetic.lower;
  if (kinetic.free && (never_decays || all_is_excess)) {
    set(kinetic, kinetic.value + excess.value);
  }
  set(excess, kinetic.value > 0.0 ? share * kinetic.value : excess.value);
  set(rate, 1.0 / (decay_speed * decay_speed));
  return mechanism;
}

}  // namespace

std::vector<Mechanism> second_chances(const Mechanism& reached, const Mechanism& start,
                                      const Eigen::VectorXd& fastest, bool unexplained) {
  std::vector<Mechanism> chances;
  if (std::optional<Mechanism> freed = off_bounds(reached, start)) {
    chances.push_back(std::move(*freed));
  }
  for (int j = 0; j < reached.hinge_count(); ++j) {
    if (!(fastest[j] > 0.0) || !is_excess_free(reached, j)) continue;
    if (!unexplained && !is_excess_lost(reached, j, fastest[j])) continue;
    for (const double share : kDecaySpeeds) {
      chances.push_back(with_excess(reached, j, kTriedExcess, share * fastest[j], fastest[j]));
      if (!may_rise_from_rest(reached, j)) continue;
      chances.push_back(with_excess(reached, j, -kTriedExcess, share * fastest[j], fastest[j]));
    }
  }
  return chances;
}

}  // namespace estimator
