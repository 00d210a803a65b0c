#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>

namespace test_support {

/// Returns the Jacobian of a function f at x by central differences along the tangent directions of
/// retract(x, δ): an m × n matrix with n = tangent_dim. The truncation error is O(step²); the
/// default step balances it with round-off for values near 1.
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
