#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>

namespace test_support {

/// Central differences of f around x, taken along the tangent directions of
/// retract(x, δ). Returns an m x n matrix, n = tangent_dim. Truncation error is
/// O(step²); the default step balances it against round-off for values near 1.
template <typename State, typename Function, typename Retract>
Eigen::MatrixXd numeric_jacobian(const Function& f, const State& x, int tangent_dim,
                                 const Retract& retract,
                                 double step = std::cbrt(std::numeric_limits<double>::epsilon())) {
  Eigen::MatrixXd jacobian(f(x).size(), tangent_dim);
  for (int j = 0; j < tangent_dim; ++j) {
    const Eigen::VectorXd delta = step * Eigen::VectorXd::Unit(tangent_dim, j);
    jacobian.col(j) = (f(retract(x, delta)) - f(retract(x, -delta))) / (2.0 * step);
  }
  return jacobian;
}

}  // namespace test_support
