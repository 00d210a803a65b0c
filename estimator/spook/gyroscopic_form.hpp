#pragma once

namespace estimator {

/// Velocity at which the gyroscopic torque −ω × J_w ω of a step is evaluated.
enum class GyroscopicForm {
  kOld,   ///< the velocity before the step, as in [Mar]; first order in h
  kMean,  ///< −½ (ω × J_w ω⁺ + ω⁺ × J_w ω): time-symmetric, second order in h
};

}  // namespace estimator
