#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "estimator/calibrate/calibration.hpp"
#include "estimator/model/mechanism.hpp"

namespace estimator {

/// A part of a joint's friction, ω being its speed.
enum class FrictionTerm {
  kViscous,   ///< b ω
  kDry,       ///< τ_c, Coulomb's
  kDrag,      ///< c |ω| ω
  kStribeck,  ///< τ_c + τ_δ exp(−ζ ω²), τ_δ of either sign
  kLoad,      ///< r_μ times the force in the bearing
  kSmooth,    ///< γ₄ tanh γ₅ω: dry friction without a jump
  kMakkar,    ///< the same and γ₁ (tanh (γ₂ + γ₃) ω − tanh γ₃ω) [Mak05]
};

/// A sum of such parts.
struct FrictionLaw {
  std::string name;  ///< "viscous+dry"
  std::vector<FrictionTerm> terms;

  /// Of one joint.
  int parameter_count() const;
};

/// @param name  terms with '+' between them, such as "viscous+dry"
/// @throws std::invalid_argument naming the terms there are
FrictionLaw parse_law(std::string_view name);

/// The laws that are worth comparing on any rig, simple ones first.
std::vector<FrictionLaw> usual_laws();

/// Quantities of a joint that the term leaves to be estimated. The first is its size: at zero
/// nothing is left of the term.
std::vector<HingeQuantity> quantities_of(FrictionTerm term);

/// How large the friction of a joint is about, to begin fits of any rig with.
struct FrictionScale {
  double torque = 0.0;   ///< [N·m or N]
  double speed = 0.0;    ///< root mean square [rad/s or m/s]
  double fastest = 0.0;  ///< [rad/s or m/s]
  double load = 0.0;     ///< force in the bearing [N]
};

/// Of each joint: the torque from the work that motion without friction leaves unexplained.
/// Recordings and mechanism as for `calibrate`.
std::vector<FrictionScale> friction_scales(const Mechanism& mechanism,
                                           const std::vector<Recording>& recordings,
                                           const CalibrationOptions& options);

/// Joints that friction laws can be told of: those with a friction parameter that is free or not
/// zero; where there is none, all.
std::vector<int> joints_with_friction(const Mechanism& mechanism);

/// The mechanism with that law at the joints, its parameters free, and no other friction there.
/// @throws std::invalid_argument where friction of a joint is tied to something
Mechanism with_law(Mechanism mechanism, const FrictionLaw& law, const std::vector<int>& joints,
                   const std::vector<FrictionScale>& scales);

}  // namespace estimator
