#pragma once

#include <cmath>

namespace firmware_iface::sim {

/// Friction of one joint. The dry friction torque is at most
///
///   τ_c + r_μ N + (τ_s − τ_c) exp(−ζ ω²),
///
/// with N the force in the bearing [N] and ω the speed of the joint [rad/s]. Viscous torque b ω and
/// air drag c |ω| ω are added.
struct JointFriction {
  double viscous = 0.0;          ///< b [N·m·s/rad], ≥ 0
  double quadratic_drag = 0.0;   ///< c [N·m·s²/rad²], ≥ 0
  double coulomb = 0.0;          ///< τ_c [N·m], ≥ 0
  double stribeck_excess = 0.0;  ///< τ_s − τ_c [N·m], ≥ 0
  double stribeck_rate = 0.0;    ///< ζ [s²/rad²], ≥ 0
  double load_arm = 0.0;         ///< r_μ: dry torque per newton of bearing force [m], ≥ 0

  /// Returns the largest dry torque at speed ω under the load N [N·m].
  double dry_limit(double omega, double load) const {
    return coulomb + load_arm * load + stribeck_excess * std::exp(-stribeck_rate * omega * omega);
  }

  /// Returns the smooth part of the friction torque [N·m].
  double smooth_torque(double omega) const {
    return -viscous * omega - quadratic_drag * std::abs(omega) * omega;
  }

  bool is_dry() const { return coulomb > 0.0 || load_arm > 0.0 || stribeck_excess > 0.0; }
};

}  // namespace firmware_iface::sim
