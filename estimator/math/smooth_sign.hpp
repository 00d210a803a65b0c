#pragma once

#include <cmath>

#include "estimator/math/dual.hpp"

namespace estimator {

/// tanh(x) from functions that every scalar type has; its derivative at zero is exactly 1.
template <typename T>
T smooth_sign(const T& x) {
  using std::abs;
  using std::exp;
  const T size = abs(x);
  const T decay = exp(T(-2.0 * size));
  const T share = (1.0 - decay) / (1.0 + decay);
  return select_positive(T(-x), T(-share), share);
}

}  // namespace estimator
