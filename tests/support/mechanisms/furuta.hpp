#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Parameters of a Furuta pendulum. Defaults: the paper's rig with the inertias of its Table G.5
/// (l_2 = 0.092 m; the printed 0.92 m is a misprint).
struct FurutaDescription {
  double mass_A = 0.238;      ///< arm [kg], > 0
  double mass_B = 0.428;      ///< pendulum [kg], > 0
  double distance_A = 0.128;  ///< l_1: joint 1 to the arm's centre of mass [m]
  double arm_length = 0.376;  ///< joint 1 to joint 2, l_1 + l_A [m]
  double distance_B = 0.092;  ///< l_2: joint 2 to the pendulum's centre of mass [m]
  Eigen::Vector3d inertia_A{1e-4, 3e-3, 3e-3};  ///< (J_Axx, J_Ayy, J_Azz) [kg·m²]
  Eigen::Vector3d inertia_B{1e-4, 4e-3, 4e-3};  ///< (J_Bxx, J_Byy, J_Bzz) [kg·m²]
};

/// Arm "A" on the vertical joint "1" (motorised), pendulum "B" on joint "2" along the arm.
///
/// World y is up. Frame of A: x along the arm, z up; θ₁ turns about +y from the arm along world x.
/// Frame of B: x from joint 2 to the centre of mass, y the joint axis; the joint axis is +x_A and
/// θ₂ = 0 hangs. Joint 1 lies at the world origin, at the height of the arm.
Mechanism make_furuta(const FurutaDescription& description = {});

}  // namespace estimator
