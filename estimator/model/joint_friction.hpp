#pragma once

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Friction quantity at index `place` of the list of all laws.
constexpr JointQuantity friction_quantity(int place) {
  return static_cast<JointQuantity>(static_cast<int>(JointQuantity::kFriction) + place);
}

/// Quantity of a friction law.
template <typename Law>
constexpr JointQuantity friction_of(typename Law::Quantity quantity) {
  return friction_quantity(friction_index<Law>(quantity));
}

/// Properties of a friction quantity; nullptr for any other quantity.
constexpr const FrictionQuantity* friction_facts(JointQuantity quantity) {
  const int place = static_cast<int>(quantity) - static_cast<int>(JointQuantity::kFriction);
  const bool is_friction = place >= 0 && place < FrictionLaws::kQuantityCount;
  return is_friction ? &kFrictionQuantities[static_cast<std::size_t>(place)] : nullptr;
}

/// Whether a law whose quantities `is_meant` accepts acts at a joint, or may after estimation.
template <typename IsMeant>
bool has_friction(const Mechanism& mechanism, int joint, const IsMeant& is_meant) {
  for (int place = 0; place < FrictionLaws::kQuantityCount; ++place) {
    const FrictionQuantity& facts = kFrictionQuantities[static_cast<std::size_t>(place)];
    if (!facts.is_size || !is_meant(facts)) continue;
    const int index = mechanism.index_of_joint(joint, friction_quantity(place));
    if (parameter_at(mechanism, index).value != 0.0 || changes_in_fit(mechanism, index))
      return true;
  }
  return false;
}

inline bool has_dry_law(const Mechanism& mechanism, int joint) {
  return has_friction(mechanism, joint, [](const auto& facts) { return facts.is_dry; });
}
inline bool has_load_law(const Mechanism& mechanism, int joint) {
  return has_friction(mechanism, joint, [](const auto& facts) { return facts.is_loaded; });
}
inline bool has_steep_law(const Mechanism& mechanism, int joint) {
  return has_friction(mechanism, joint, [](const auto& facts) { return facts.is_steep; });
}
/// Whether friction can hold a joint at rest: dry, with no transition velocity.
inline bool can_stick(const Mechanism& mechanism, int joint) {
  return has_dry_law(mechanism, joint) &&
         !(mechanism.joints[static_cast<std::size_t>(joint)].transition_speed > 0.0);
}
/// @param law  index in the list of laws
inline bool has_law(const Mechanism& mechanism, int joint, int law) {
  return has_friction(mechanism, joint, [&](const auto& facts) { return facts.law == law; });
}

}  // namespace estimator
