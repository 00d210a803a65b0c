#pragma once

#include "estimator/friction/friction_law.hpp"
#include "estimator/math/smooth_sign.hpp"

namespace estimator {

/// Friction law that is continuous at rest [Mak05; MTM, eq. 55]. The parameter `rise` is γ₂ − γ₃,
/// so that nonnegative parameters always oppose the motion. The papers use γ₂ = rise + decay, which
/// does not oppose the motion if γ₂ < γ₃.
struct Makkar {
  enum Quantity { kExcess, kRise, kDecay, kCoulomb, kSlope };
  static constexpr LawQuantity kQuantities[] = {
      {.field = "makkar.excess",
       .symbol = "gamma_1",
       .unit = "N·m",
       .slide_unit = "N",
       .is_size = true,
       .start = start_excess},
      {.field = "makkar.rise",
       .symbol = "gamma_2",
       .unit = "s/rad",
       .slide_unit = "s/m",
       .start = start_rise,
       .most = steepest_rise},
      {.field = "makkar.decay",
       .symbol = "gamma_3",
       .unit = "s/rad",
       .slide_unit = "s/m",
       .start = [](double,
                   const FrictionScale& scale) { return 1.0 / (kDecayShare * scale.fastest); }},
      {.field = "makkar.coulomb",
       .symbol = "gamma_4",
       .unit = "N·m",
       .slide_unit = "N",
       .is_size = true,
       .start = start_whole},
      {.field = "makkar.slope",
       .symbol = "gamma_5",
       .unit = "s/rad",
       .slide_unit = "s/m",
       .start = start_rise,
       .most = steepest_rise}};
  static constexpr LawTerm kTerms[] = {{"smooth", {kCoulomb, kSlope}},
                                       {"makkar", {kCoulomb, kSlope, kExcess, kRise, kDecay}}};
  static constexpr bool kInSpook = false;

  template <typename T>
  struct On {
    T excess;   // γ₁: static minus kinetic friction [N·m]
    T rise;     // γ₂ − γ₃ [s/rad]
    T decay;    // γ₃ [s/rad]
    T coulomb;  // γ₄ [N·m]
    T slope;    // γ₅ [s/rad]

    /// Returns the friction torque γ₁ (tanh γ₂ω − tanh γ₃ω) + γ₄ tanh γ₅ω at the joint rate ω.
    T torque(const T& rate) const {
      const T rising = (rise + decay) * rate, falling = decay * rate, steep = slope * rate;
      const T gone = smooth_sign(rising) - smooth_sign(falling);
      return excess * gone + coulomb * smooth_sign(steep);
    }

    T steepness() const { return excess * rise + coulomb * slope; }
  };
};

}  // namespace estimator
