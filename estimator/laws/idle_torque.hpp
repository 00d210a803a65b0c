#pragma once

namespace estimator {

/// What acts along a joint's axis at any speed: a constant torque, and a spring that is stretched
/// by θ − θ_rest, of a hinge without whole turns [N·m]; of a joint that slides a force [N].
template <typename T>
T idle_torque(const T& constant, const T& stiffness, const T& stretch) {
  return constant - stiffness * stretch;
}

}  // namespace estimator
