#pragma once

#include <Eigen/Core>
#include <vector>

namespace estimator {

/// Solves regularized dry friction on several coupled axes: finds λ with
///
///   ω = r + N λ,   λ_j = −B_j clamp(ω_j / s_j, −1, 1).
///
/// It is the stationary point of a strictly convex quadratic in the box |λ_j| ≤ B_j, so it is
/// unique. Projected Gauss–Seidel guesses the set of sticking axes, an exact solve for that set
/// gives λ, and the guess is verified. Plain semismooth Newton would cycle on some states [METHOD
/// 3]. No allocation after construction.
class JointFrictionSolver {
 public:
  JointFrictionSolver() = default;

  /// @param axis_count largest number of axes
  explicit JointFrictionSolver(int axis_count);

  /// @param N       n × n, symmetric positive semidefinite: Δω of a unit impulse [1/(kg·m²)]
  /// @param r       ω without dry friction [rad/s]
  /// @param bound   B_j ≥ 0 [N·m·s]
  /// @param stick_speed s_j > 0 [rad/s]
  /// @param lambda  initial value of the iteration, |λ_j| ≤ B_j; the solution [N·m·s]
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
