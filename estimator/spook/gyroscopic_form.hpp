#pragma once

namespace estimator {

/// Where the gyroscopic torque −ω × J_w ω of a step is taken.
enum class GyroscopicForm {
  kOld,   ///< at the velocity before the step, as in the paper; first order in h
  kMean,  ///< −½ (ω × J_w ω⁺ + ω⁺ × J_w ω): time-symmetric, second order in h
};

}  // namespace estimator
