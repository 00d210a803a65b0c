#pragma once

#include <cmath>

#include "estimator/friction/friction_law.hpp"

namespace estimator {

/// Fraction of the Stribeck excess that remains at a speed, exp(−ζ ω²).
template <typename T>
T stribeck_share(const T& stribeck_rate, const T& omega) {
  using std::exp;
  const T exponent = -stribeck_rate * omega * omega;
  return exp(exponent);
}

/// Load-independent dry friction, τ_c + τ_δ exp(−ζ ω²) [Mar, eq. 4.1 as a torque].
template <typename T>
T dry_friction(const T& coulomb, const T& stribeck, const T& stribeck_rate, const T& omega) {
  return coulomb + stribeck * stribeck_share(stribeck_rate, omega);
}

/// Coulomb friction and an excess at rest, of either sign, that decays with speed. The excess of a
/// prismatic joint decays over a speed of 1 m/s by default.
struct CoulombStribeck {
  enum Quantity { kCoulombTorque, kStribeckTorque, kStribeckRate };
  static constexpr LawQuantity kQuantities[] = {
      {.field = "coulomb_torque",
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
       .unsupported_in_robot_formats = "friction that falls with speed (Stribeck)",
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
  static constexpr const char* kWhat = "dry friction";
  static constexpr bool kInSpook = true;

  template <typename T>
  struct On {
    T coulomb, stribeck, stribeck_rate;

    T bound(const T& rate) const { return dry_friction(coulomb, stribeck, stribeck_rate, rate); }
  };
};

}  // namespace estimator
