#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Parameters of a Furuta pendulum. The defaults are the rig of the paper with the inertias of its
/// Table G.5, but with l_2 = 0.092 m, as the printed 0.92 m is a misprint.
struct FurutaDescription {
  double mass_A = 0.238;      ///< arm [kg], > 0
  double mass_B = 0.428;      ///< pendulum [kg], > 0
  double distance_A = 0.128;  ///< distance l_1 from joint 1 to the arm's centre of mass [m]
  double arm_length = 0.376;  ///< distance l_1 + l_A from joint 1 to joint 2 [m]
  double distance_B = 0.092;  ///< distance l_2 from joint 2 to the pendulum's centre of mass [m]
  Eigen::Vector3d inertia_A{1e-4, 3e-3, 3e-3};  ///< (J_Axx, J_Ayy, J_Azz) [kg·m²]
  Eigen::Vector3d inertia_B{1e-4, 4e-3, 4e-3};  ///< (J_Bxx, J_Byy, J_Bzz) [kg·m²]
};

/// Returns a Furuta pendulum: the arm "A" turns about the vertical, motorised joint "1", and the
/// pendulum "B" turns about the joint "2" along the arm.
///
/// World y is up. Joint 1 is at the world origin, at the height of the arm. In the frame of arm A,
/// x is along the arm and z is up; at joint angle θ₁ = 0 the arm is along world x, and θ₁ turns
/// about +y. In the frame of pendulum B, x points from joint 2 to the centre of mass and y is the
/// joint axis, which coincides with +x of A. At θ₂ = 0 the pendulum hangs.
Mechanism make_furuta(const FurutaDescription& description = {});

}  // namespace estimator
