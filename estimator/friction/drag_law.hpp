#pragma once

#include "estimator/friction/friction_law.hpp"

namespace estimator {

/// Returns b + c |ω|, the factor of the rate ω in viscous friction b and quadratic drag c.
template <typename T>
T drag_factor(const T& viscous, const T& quadratic_drag, const T& speed) {
  return viscous + quadratic_drag * speed;
}

/// Friction law: viscous friction and quadratic drag, (b + c |ω|) ω.
struct ViscousDrag {
  enum Quantity { kViscous, kQuadraticDrag };
  static constexpr LawQuantity kQuantities[] = {
      {.field = "viscous",
       .symbol = "b",
       .unit = "N·m·s/rad",
       .slide_unit = "N·s/m",
       .is_size = true,
       .start = [](double torque, const FrictionScale& scale) { return torque / scale.speed; }},
      {.field = "quadratic_drag",
       .symbol = "c",
       .unit = "N·m·s²/rad²",
       .slide_unit = "N·s²/m²",
       .is_size = true,
       .start = [](double torque, const FrictionScale& scale) {
         return torque / (scale.speed * scale.speed);
       }}};
  static constexpr LawTerm kTerms[] = {{"viscous", {kViscous}}, {"drag", {kQuadraticDrag}}};
  static constexpr bool kInSpook = true;

  template <typename T>
  struct On {
    T viscous, quadratic_drag;

    T factor(const T& speed) const { return drag_factor(viscous, quadratic_drag, speed); }
  };
};

}  // namespace estimator
