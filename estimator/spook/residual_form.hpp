#pragma once

namespace estimator {

/// Form of the impulse residual of a SPOOK step.
enum class ResidualForm {
  kExplicit,  ///< inverse dynamics [Mar, eqs. 3.7, 3.8]; fails with stiff constraints
  kImplicit,  ///< M_w (v⁺ − φ(x)) with a separate weighting compliance; any stiffness
};

}  // namespace estimator
