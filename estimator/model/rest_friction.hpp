#pragma once

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Dry friction of a joint at rest without load, τ_c + τ_δ: the least at any speed and load where
/// the excess is negative, that is, where friction rises from rest. [N·m or N]
inline double dry_friction_at_rest(const Mechanism& mechanism, int hinge) {
  return mechanism.hinge_parameter(hinge, HingeQuantity::kCoulombTorque).value +
         mechanism.hinge_parameter(hinge, HingeQuantity::kStribeckTorque).value;
}

/// Whether the excess may lie below zero: friction may rise from rest.
inline bool may_rise_from_rest(const Mechanism& mechanism, int hinge) {
  return mechanism.hinge_parameter(hinge, HingeQuantity::kStribeckTorque).lower < 0.0;
}

/// Whether dry friction opposes the motion of every joint at every speed.
inline bool opposes_motion(const Mechanism& mechanism) {
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    if (may_rise_from_rest(mechanism, j) && !(dry_friction_at_rest(mechanism, j) >= 0.0)) {
      return false;
    }
  }
  return true;
}

}  // namespace estimator
