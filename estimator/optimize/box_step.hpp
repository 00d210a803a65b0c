#pragma once

#include <Eigen/Core>

namespace estimator {

/// Minimiser of a quadratic in a box.
struct BoxStep {
  Eigen::VectorXd step;      ///< δ
  Eigen::VectorXi at_bound;  ///< −1: δ = lower, +1: δ = upper, 0: free
};

/// Smallest relative eigenvalue that solve_box_step takes at face value.
inline constexpr double kEigenvalueFloor = 1e-14;

/// Minimises ½ δᵀSδ + sᵀδ subject to lower ≤ δ ≤ upper by a primal active-set method, exact up to
/// rounding. Eliminating the unconstrained states first makes this the exact constrained step of
/// the whole problem [Mar, App. C].
///
/// S is scaled to D^{-1/2} S D^{-1/2}. Eigenvalues of the scaled matrix below kEigenvalueFloor
/// times the largest are rounding noise of a direction the data cannot see; they are raised to the
/// floor, so that the step exists for any S.
///
/// @param S      p x p, symmetric, positive semi-definite up to rounding
/// @param s      p
/// @param scale  D > 0, p
/// @param lower  p, −∞ where unbounded
/// @param upper  p, ≥ lower, +∞ where unbounded
/// @return the minimiser; entries at a bound equal it exactly.
BoxStep solve_box_step(const Eigen::MatrixXd& S, const Eigen::VectorXd& s,
                       const Eigen::VectorXd& scale, const Eigen::VectorXd& lower,
                       const Eigen::VectorXd& upper);

}  // namespace estimator
