#pragma once

#include <Eigen/Core>
#include <vector>

namespace estimator {

/// Solves for the dry friction impulses λ and speeds ω of several coupled joint axes. Friction is
/// regularized near zero speed:
///
///   ω = r + N λ,   λ_j = −B_j clamp(ω_j / s_j, −1, 1).
///
/// The solution is unique, since it minimizes a strictly convex quadratic function in the box |λ_j|
/// ≤ B_j. Projected Gauss–Seidel guesses the set of sticking axes. An exact solve for that set
/// gives λ, which is verified. Plain semismooth Newton would cycle on some states [METHOD 3]. No
/// memory is allocated after construction.
class JointFrictionSolver {
 public:
  JointFrictionSolver() = default;

  /// @param axis_count  largest number of axes
  explicit JointFrictionSolver(int axis_count);

  /// @param N       speed change of each axis per unit impulse, n × n, symmetric positive
  /// semidefinite [1/(kg·m²)]
  /// @param r       axis speeds without dry friction [rad/s]
  /// @param bound   bounds B_j ≥ 0 of the impulses [N·m·s]
  /// @param stick_speed  speeds s_j > 0 below which friction is regularized [rad/s]
  /// @param lambda  initial value, |λ_j| ≤ B_j; result: the solution [N·m·s]
  /// @return false if the limit of iterations was reached; λ is then the last iterate
  bool solve(const Eigen::MatrixXd& N, const Eigen::VectorXd& r, const Eigen::VectorXd& bound,
             const Eigen::VectorXd& stick_speed, Eigen::VectorXd& lambda);

 private:
  void sweep(const Eigen::MatrixXd& N, const Eigen::VectorXd& r, const Eigen::VectorXd& bound,
             const Eigen::VectorXd& stick_speed, Eigen::VectorXd& lambda);
  void solve_sticking(const Eigen::MatrixXd& N, const Eigen::VectorXd& r,
                      const Eigen::VectorXd& bound, const Eigen::VectorXd& stick_speed);
  bool is_consistent(const Eigen::MatrixXd& N, const Eigen::VectorXd& r,
                     const Eigen::VectorXd& bound, const Eigen::VectorXd& stick_speed) const;

  enum class Contact { kStick, kSlipForward, kSlipBackward };
  std::vector<Contact> contact_, previous_;
  std::vector<int> sticking_;
  Eigen::VectorXd candidate_;
  Eigen::MatrixXd system_;  // of the sticking axes, lower triangle
  Eigen::VectorXd rhs_;
};

}  // namespace estimator
