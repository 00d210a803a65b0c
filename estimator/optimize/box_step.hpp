#pragma once

#include <Eigen/Core>

namespace estimator {

/// The step that minimizes a quadratic function subject to bounds.
struct BoundedStep {
  Eigen::VectorXd step;      ///< step δ
  Eigen::VectorXi at_bound;  ///< −1: δ at lower bound, +1: at upper bound, 0: free
};

/// Smallest eigenvalue relative to the largest. `solve_bounded_step` raises smaller eigenvalues to
/// this limit.
inline constexpr double kEigenvalueFloor = 1e-14;

/// Minimizes ½ δᵀSδ + sᵀδ subject to lower ≤ δ ≤ upper by a primal active-set method, exact up to
/// round-off. If states without bounds were eliminated first, the result is the parameter part of
/// the exact constrained step of states and parameters [Mar, App. C].
///
/// S is scaled to D^{-1/2} S D^{-1/2}. Eigenvalues of the scaled matrix below kEigenvalueFloor
/// times the largest are round-off in unidentifiable directions. They are raised to this limit, so
/// that a step exists for any S.
///
/// @param S      p x p, symmetric, positive semi-definite up to rounding
/// @param s      gradient, p
/// @param scale  D > 0, p
/// @param lower  p, −∞ where unbounded
/// @param upper  p, ≥ lower, +∞ where unbounded
/// @return the minimizer; entries at a bound equal it exactly.
BoundedStep solve_bounded_step(const Eigen::MatrixXd& S, const Eigen::VectorXd& s,
                               const Eigen::VectorXd& scale, const Eigen::VectorXd& lower,
                               const Eigen::VectorXd& upper);

}  // namespace estimator
