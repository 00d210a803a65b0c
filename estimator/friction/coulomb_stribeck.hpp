#pragma once

#include <cmath>

#include "estimator/friction/friction_law.hpp"

namespace estimator {

/// Returns the fraction exp(−ζ ω²) of the Stribeck excess that remains at the joint rate ω.
template <typename T>
T stribeck_share(const T& stribeck_rate, const T& omega) {
  using std::exp;
  const T exponent = -stribeck_rate * omega * omega;
  return exp(exponent);
}

/// Returns the dry friction without load dependence, τ_c + τ_δ exp(−ζ ω²), at the joint rate ω
/// [Mar, eq. 4.1 as a torque].
template <typename T>
T dry_friction(const T& coulomb, const T& stribeck, const T& stribeck_rate, const T& omega) {
  return coulomb + stribeck * stribeck_share(stribeck_rate, omega);
}

/// Friction law: Coulomb friction plus an excess at rest (Stribeck), of either sign, that decays
/// with speed. In a prismatic joint the excess decays over 1 m/s by default.
struct CoulombStribeck {
  enum Quantity { kCoulombTorque, kStribeckTorque, kStribeckRate };
  static constexpr LawQuantity kQuantities[] = {{.field = "coulomb_torque",
                                                 .slide_field = "coulomb_force",
                                                 .symbol = "tau_c",
                                                 .slide_symbol = "f_c",
                                                 .unit = "N·m",
                                                 .slide_unit = "N",
                                                 .is_size = true,
                                                 .start = start_whole},
                                                {.field = "stribeck_torque",
                                                 .slide_field = "stribeck_force",
                                                 .symbol = "tau_delta",
                                                 .slide_symbol = "f_delta",
                                                 .unit = "N·m",
                                                 .slide_unit = "N",
                                                 .is_size = true,
                                                 .may_be_negative = true,
                                                 .start = start_excess},
                                                {.field = "stribeck_rate",
                                                 .symbol = "zeta",
                                                 .unit = "s²/rad²",
                                                 .slide_unit = "s²/m²",
                                                 .neutral = 1.0,
                                                 .start = [](double, const FrictionScale& scale) {
                                                   return std::pow(kDecayShare * scale.fastest, -2);
                                                 }}};
  static constexpr LawTerm kTerms[] = {
      {"dry", {kCoulombTorque}}, {"stribeck", {kCoulombTorque, kStribeckTorque, kStribeckRate}}};
  static constexpr bool kInSpook = true;

  template <typename T>
  struct On {
    T coulomb, stribeck, stribeck_rate;

    T bound(const T& rate) const { return dry_friction(coulomb, stribeck, stribeck_rate, rate); }
  };
};

}  // namespace estimator
