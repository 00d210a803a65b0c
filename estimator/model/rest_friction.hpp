#pragma once

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Returns a joint's dry friction at rest without load, τ_c + τ_δ [N·m or N], with the Coulomb
/// friction τ_c and the Stribeck excess τ_δ. For τ_δ < 0 it is the minimum over all speeds and
/// loads.
inline double dry_friction_at_rest(const Mechanism& mechanism, int joint) {
  return mechanism.joint_parameter(joint, JointQuantity::kCoulombTorque).value +
         mechanism.joint_parameter(joint, JointQuantity::kStribeckTorque).value;
}

/// Returns whether the Stribeck excess may be negative, so that friction rises from rest.
inline bool may_rise_from_rest(const Mechanism& mechanism, int joint) {
  return mechanism.joint_parameter(joint, JointQuantity::kStribeckTorque).lower < 0.0;
}

/// Returns whether dry friction opposes the motion of every joint at every speed.
inline bool opposes_motion(const Mechanism& mechanism) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (may_rise_from_rest(mechanism, j) && !(dry_friction_at_rest(mechanism, j) >= 0.0)) {
      return false;
    }
  }
  return true;
}

}  // namespace estimator
