#pragma once

namespace estimator {

/// Load along a joint's axis at any speed: a constant torque and a spring with elongation θ −
/// θ_rest, without full turns for a revolute joint [N·m]; a force for a prismatic joint [N].
template <typename T>
T passive_torque(const T& constant, const T& stiffness, const T& stretch) {
  return constant - stiffness * stretch;
}

}  // namespace estimator
