#pragma once

namespace estimator {

/// Choice of the angular velocity at which a step of length h evaluates the gyroscopic torque −ω ×
/// J_w ω.
enum class GyroscopicForm {
  kOld,   ///< the velocity before the step, as in [Mar]; first order in h
  kMean,  ///< −½ (ω × J_w ω⁺ + ω⁺ × J_w ω): time-symmetric, second order in h
};

}  // namespace estimator
