#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <random>
#include <vector>

namespace estimator {

/// Minimises a function by CMA-ES, the evolution strategy with covariance matrix adaptation [Han16,
/// figure 6, positive weights only]. Uses only the order of function values. Deterministic for a
/// given seed.
class CmaEs {
 public:
  /// @param start   initial mean of the search distribution
  /// @param spread  initial step size σ, equal in all directions
  CmaEs(const Eigen::VectorXd& start, double spread, int points, std::uint64_t seed);

  /// Returns the points at which to evaluate the function in the next iteration, one per column.
  const Eigen::MatrixXd& ask();

  /// Adapts the search distribution to the function values at the last points.
  /// @param costs  function values at the points returned by `ask`, in their order; NaN counts as
  /// the worst
  void update_distribution(const std::vector<double>& costs);

  /// Returns the point with the lowest function value so far.
  const Eigen::VectorXd& best() const { return best_; }

 private:
  void decompose_covariance();

  Eigen::VectorXd mean_, path_, spread_path_, weights_;
  Eigen::MatrixXd covariance_, axes_, points_;
  Eigen::VectorXd lengths_;  // square roots of the eigenvalues
  double spread_;
  double mass_ = 0.0;  // μ_eff, variance-effective selection mass
  int rounds_ = 0;
  std::mt19937_64 random_;
  Eigen::VectorXd best_;
  double best_cost_;
};

}  // namespace estimator
