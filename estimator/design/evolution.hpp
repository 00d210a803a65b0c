#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <random>
#include <vector>

namespace estimator {

/// Looks for the least of a function that need not be smooth, nor more than an order among points:
/// evolution strategy with covariance matrix adaptation [Han16, figure 6, weights all positive].
/// The same seed gives the same points.
///
/// [Han16] N. Hansen, The CMA evolution strategy: a tutorial, arXiv:1604.00772, 2016.
class Evolution {
 public:
  /// @param start   where the search begins
  /// @param spread  σ: how far around it the first points lie, in every direction
  Evolution(const Eigen::VectorXd& start, double spread, int points, std::uint64_t seed);

  /// The points of the next round, one a column.
  const Eigen::MatrixXd& ask();

  /// @param costs  of the points asked for, in order; NaN counts as the worst
  void tell(const std::vector<double>& costs);

  /// The best of all points told.
  const Eigen::VectorXd& best() const { return best_; }

 private:
  void decompose();

  Eigen::VectorXd mean_, path_, spread_path_, weights_;
  Eigen::MatrixXd covariance_, axes_, points_;
  Eigen::VectorXd lengths_;  // of the axes
  double spread_;
  double mass_ = 0.0;  // μ_eff
  int rounds_ = 0;
  std::mt19937_64 random_;
  Eigen::VectorXd best_;
  double best_cost_;
};

}  // namespace estimator
