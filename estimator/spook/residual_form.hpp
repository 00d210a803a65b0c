#pragma once

namespace estimator {

/// Form of the impulse residual.
enum class ResidualForm {
  kExplicit,  ///< the paper's inverse dynamics [Mar, eqs. 3.7, 3.8]; breaks on stiff constraints
  kImplicit,  ///< M_w (v⁺ − φ(x)) with a weighting compliance of its own; any stiffness
};

}  // namespace estimator
