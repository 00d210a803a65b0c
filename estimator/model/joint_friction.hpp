#pragma once

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Returns the joint parameter with the index `place` in the list of all friction parameters.
constexpr JointParameter friction_parameter_at(int place) {
  return static_cast<JointParameter>(static_cast<int>(JointParameter::kFriction) + place);
}

/// Returns a parameter of a friction law as a joint parameter.
template <typename Law>
constexpr JointParameter friction_law_parameter(typename Law::Quantity quantity) {
  return friction_parameter_at(friction_parameter_index<Law>(quantity));
}

/// Returns the properties of a friction parameter; nullptr for any other joint parameter.
constexpr const FrictionParameter* friction_properties(JointParameter quantity) {
  const int place = static_cast<int>(quantity) - static_cast<int>(JointParameter::kFriction);
  const bool is_friction = place >= 0 && place < FrictionLaws::kQuantityCount;
  return is_friction ? &kFrictionParameters[place] : nullptr;
}

/// Returns whether a friction law acts at a joint, or may act after estimation. `is_meant` selects
/// the laws by their parameters.
template <typename IsMeant>
bool has_friction(const Mechanism& mechanism, int joint, const IsMeant& is_meant) {
  for (int place = 0; place < FrictionLaws::kQuantityCount; ++place) {
    const FrictionParameter& facts = kFrictionParameters[place];
    if (!facts.is_size || !is_meant(facts)) continue;
    const int index = mechanism.joint_parameter_index(joint, friction_parameter_at(place));
    if (mechanism.at(index).value != 0.0 || is_changed_by_fit(mechanism, index)) return true;
  }
  return false;
}

inline bool has_dry_friction(const Mechanism& mechanism, int joint) {
  return has_friction(mechanism, joint, [](const auto& facts) { return facts.is_dry; });
}
inline bool has_load_proportional_friction(const Mechanism& mechanism, int joint) {
  return has_friction(mechanism, joint, [](const auto& facts) { return facts.is_loaded; });
}
inline bool has_steep_friction(const Mechanism& mechanism, int joint) {
  return has_friction(mechanism, joint, [](const auto& facts) { return facts.is_steep; });
}
/// Returns whether friction can hold a joint at rest: the friction is dry, and the joint has no
/// transition velocity.
inline bool can_stick(const Mechanism& mechanism, int joint) {
  return has_dry_friction(mechanism, joint) && !(mechanism.joints[joint].transition_speed > 0.0);
}
/// Returns whether a friction law acts at a joint, or may act after estimation.
/// @param law  index in the list of laws
inline bool has_friction_law(const Mechanism& mechanism, int joint, int law) {
  return has_friction(mechanism, joint, [&](const auto& facts) { return facts.law == law; });
}

/// Returns a joint's dry friction at rest without load, τ_c + τ_δ [N·m or N], with the Coulomb
/// friction τ_c and the Stribeck excess τ_δ. For τ_δ < 0 it is the minimum over all speeds and
/// loads.
inline double dry_friction_at_rest(const Mechanism& mechanism, int joint) {
  return mechanism.joint_parameter(joint, JointParameter::kCoulombTorque).value +
         mechanism.joint_parameter(joint, JointParameter::kStribeckTorque).value;
}

/// Returns whether the Stribeck excess may be negative, so that friction grows as the joint starts
/// to move.
inline bool can_friction_rise_from_rest(const Mechanism& mechanism, int joint) {
  return mechanism.joint_parameter(joint, JointParameter::kStribeckTorque).lower < 0.0;
}

/// Returns whether dry friction opposes the motion of every joint at every speed.
inline bool friction_opposes_motion(const Mechanism& mechanism) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (can_friction_rise_from_rest(mechanism, j) && !(dry_friction_at_rest(mechanism, j) >= 0.0)) {
      return false;
    }
  }
  return true;
}

}  // namespace estimator
