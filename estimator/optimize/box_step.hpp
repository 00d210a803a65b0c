#pragma once

#include <Eigen/Core>

namespace estimator {

/// Minimizer of a quadratic in a box.
struct BoxStep {
  Eigen::VectorXd step;      ///< δ
  Eigen::VectorXi at_bound;  ///< −1: δ = lower, +1: δ = upper, 0: free
};

/// Relative eigenvalues below this are raised to it by solve_box_step.
inline constexpr double kEigenvalueFloor = 1e-14;

/// Minimizes ½ δᵀSδ + sᵀδ subject to lower ≤ δ ≤ upper by a primal active-set method, exact up to
/// round-off. If the unconstrained states are eliminated first, this gives the exact constrained
/// step of the whole problem [Mar, App. C].
///
/// S is scaled to D^{-1/2} S D^{-1/2}. Eigenvalues of the scaled matrix below kEigenvalueFloor
/// times the largest are round-off in unidentifiable directions. They are raised to this floor, so
/// that a step exists for any S.
///
/// @param S      p x p, symmetric, positive semi-definite up to rounding
/// @param s      p
/// @param scale  D > 0, p
/// @param lower  p, −∞ where unbounded
/// @param upper  p, ≥ lower, +∞ where unbounded
/// @return the minimizer; entries at a bound equal it exactly.
BoxStep solve_box_step(const Eigen::MatrixXd& S, const Eigen::VectorXd& s,
                       const Eigen::VectorXd& scale, const Eigen::VectorXd& lower,
                       const Eigen::VectorXd& upper);

}  // namespace estimator
