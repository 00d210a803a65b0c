#pragma once

#include <Eigen/Core>
#include <cmath>
#include <unsupported/Eigen/AutoDiff>

namespace estimator {

/// Number of directions per forward-mode differentiation pass: two AVX registers.
inline constexpr int kDualLanes = 8;

/// A number with its derivatives along kDualLanes directions.
using Dual = Eigen::AutoDiffScalar<Eigen::Matrix<double, kDualLanes, 1>>;

/// The number without its derivatives.
inline double value_of(double x) { return x; }
inline double value_of(const Dual& x) { return x.value(); }

/// Functions that Eigen's dual numbers lack.
inline Dual nearest(const Dual& x) { return std::nearbyint(x.value()); }
inline double select_positive(double condition, double yes, double no) {
  return condition > 0.0 ? yes : no;
}
inline Dual select_positive(const Dual& condition, const Dual& yes, const Dual& no) {
  return condition.value() > 0.0 ? yes : no;
}

}  // namespace estimator
