#pragma once

namespace estimator {

/// Returns the load along a joint's axis that does not depend on speed: a constant torque plus a
/// spring torque [N·m, for a prismatic joint N].
/// @param stretch  elongation θ − θ_rest of the spring, wrapped for a revolute joint
template <typename T>
T passive_torque(const T& constant, const T& stiffness, const T& stretch) {
  return constant - stiffness * stretch;
}

}  // namespace estimator
