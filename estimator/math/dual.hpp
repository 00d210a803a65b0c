#pragma once

#include <Eigen/Core>
#include <cmath>
#include <unsupported/Eigen/AutoDiff>

namespace estimator {

/// Number of derivatives that one pass of forward-mode automatic differentiation computes. They
/// fill two AVX registers.
inline constexpr int kDualLanes = 8;

/// A number with its derivatives with respect to kDualLanes variables, for automatic
/// differentiation.
using Dual = Eigen::AutoDiffScalar<Eigen::Matrix<double, kDualLanes, 1>>;

/// Mathematical functions of dual numbers that Eigen::AutoDiffScalar does not have.
inline Dual round_to_nearest(const Dual& x) { return std::nearbyint(x.value()); }
inline double select_if_positive(double condition, double yes, double no) {
  return condition > 0.0 ? yes : no;
}
inline Dual select_if_positive(const Dual& condition, const Dual& yes, const Dual& no) {
  return condition.value() > 0.0 ? yes : no;
}

/// Returns tanh(x), computed with functions that double, Dual and Expression have. Its derivative
/// at zero is exactly 1.
template <typename T>
T generic_tanh(const T& x) {
  using std::abs;
  using std::exp;
  const T size = abs(x);
  const T decay = exp(T(-2.0 * size));
  const T share = (1.0 - decay) / (1.0 + decay);
  return select_if_positive(T(-x), T(-share), share);
}

}  // namespace estimator
