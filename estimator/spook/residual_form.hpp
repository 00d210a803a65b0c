#pragma once

namespace estimator {

/// Form of the impulse residual of a SPOOK step.
enum class ResidualForm {
  kExplicit,  ///< inverse dynamics [Mar, eqs. 3.7, 3.8]; fails with stiff constraints
  kImplicit,  ///< M_w (v⁺ − φ(x)) with a separate weighting compliance; any stiffness
};

/// Choice of the angular velocity at which a step of length h evaluates the gyroscopic torque −ω ×
/// J_w ω.
enum class GyroscopicForm {
  kOld,   ///< velocity before the step, as in [Mar]; first order in h
  kMean,  ///< −½ (ω × J_w ω⁺ + ω⁺ × J_w ω): time-symmetric, second order in h
};

}  // namespace estimator
