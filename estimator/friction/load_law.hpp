#pragma once

#include "estimator/friction/friction_law.hpp"

namespace estimator {

/// Friction law: dry friction proportional to the bearing load, rμ F + μ M, with the force F and
/// moment M in the bearing.
struct LoadFriction {
  enum Quantity { kLoadFriction, kLoadFrictionAngular };
  static constexpr LawQuantity kQuantities[] = {
      {.field = "load",
       .symbol = "r_mu",
       .slide_symbol = "mu",
       .unit = "m",
       .slide_unit = "-",
       .is_size = true,
       .start = [](double torque, const FrictionScale& scale) { return torque / scale.load; }},
      {.field = "load_angular",
       .symbol = "mu",
       .slide_symbol = "mu_moment",
       .unit = "-",
       .slide_unit = "1/m",
       .is_size = true}};
  static constexpr LawTerm kTerms[] = {{"load", {kLoadFriction}}};
  static constexpr bool kInSpook = true;

  template <typename T>
  struct On {
    T per_force, per_moment;

    T bound(const T& force, const T& moment) const {
      return per_force * force + per_moment * moment;
    }
  };
};

}  // namespace estimator
