#pragma once

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Dry friction of a joint at rest without load, τ_c + τ_δ [N·m or N]. It is the minimum over all
/// speeds and loads if the excess is negative, that is, if friction rises from rest.
inline double dry_friction_at_rest(const Mechanism& mechanism, int joint) {
  return mechanism.joint_parameter(joint, JointQuantity::kCoulombTorque).value +
         mechanism.joint_parameter(joint, JointQuantity::kStribeckTorque).value;
}

/// Whether the Stribeck excess may be negative: friction may rise from rest.
inline bool may_rise_from_rest(const Mechanism& mechanism, int joint) {
  return mechanism.joint_parameter(joint, JointQuantity::kStribeckTorque).lower < 0.0;
}

/// Whether dry friction opposes the motion of every joint at every speed.
inline bool opposes_motion(const Mechanism& mechanism) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (may_rise_from_rest(mechanism, j) && !(dry_friction_at_rest(mechanism, j) >= 0.0)) {
      return false;
    }
  }
  return true;
}

}  // namespace estimator
