#pragma once

#include <cmath>

#include "estimator/math/dual.hpp"
#include "estimator/symbolic/expression.hpp"

namespace estimator {

/// tanh of x by what every scalar knows, with the derivative 1 at zero too.
template <typename T>
T smooth_sign(const T& x) {
  using std::abs;
  using std::exp;
  const T size = abs(x);
  const T decay = exp(T(-2.0 * size));
  const T share = (1.0 - decay) / (1.0 + decay);
  return select_positive(T(-x), T(-share), share);
}

/// Parameters of a friction law without a jump at rest [Mak05; MTM, eq. 55], the rise of the excess
/// counted from its decay: with none of them below zero the friction opposes the motion at every
/// speed. That of the papers, γ₂ = rise + decay, does not where γ₂ < γ₃.
template <typename T>
struct SmoothFriction {
  T excess;   ///< γ₁: static beyond kinetic friction [N·m]
  T rise;     ///< γ₂ − γ₃ [s/rad]
  T decay;    ///< γ₃ [s/rad]
  T coulomb;  ///< γ₄ [N·m]
  T slope;    ///< γ₅ [s/rad]

  /// γ₁ (tanh γ₂ω − tanh γ₃ω) + γ₄ tanh γ₅ω, which opposes the motion [N·m].
  T torque(const T& rate) const {
    const T rising = (rise + decay) * rate, falling = decay * rate, steep = slope * rate;
    const T gone = smooth_sign(rising) - smooth_sign(falling);
    return excess * gone + coulomb * smooth_sign(steep);
  }

  /// Its derivative at rest, the largest [N·m·s/rad].
  T steepness() const { return excess * rise + coulomb * slope; }
};

}  // namespace estimator
