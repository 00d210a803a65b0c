#pragma once

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Parameters of a pendulum. The defaults are the pendulum B of the paper's Furuta rig.
struct PendulumDescription {
  double mass = 0.428;             ///< [kg], > 0
  double distance = 0.092;         ///< distance l from the joint to the centre of mass [m]
  double inertia_axial = 1e-4;     ///< J_xx about the rod; no effect on the motion [kg·m²]
  double inertia_swing = 3.96e-3;  ///< J_zz about the centre of mass, in the plane [kg·m²]
  bool motorised = false;
};

/// Returns a pendulum: a body "P" on a joint "1" to the ground, whose axis is the horizontal world
/// z.
///
/// In the frame of P, x points from the joint to the centre of mass and z is the joint axis. The
/// joint is at the world origin. The pendulum hangs at joint angle θ = 0, and positive angles swing
/// it toward world +x. The moment of inertia J_yy equals J_zz, as for a rod.
Mechanism make_pendulum(const PendulumDescription& description = {});

}  // namespace estimator
