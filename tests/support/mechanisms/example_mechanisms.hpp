#pragma once

#include <Eigen/Core>
#include <optional>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Returns the rotation from a joint frame to the frame in which two perpendicular unit vectors are
/// given. The joint frame has x along `axis` and y along `zero_direction`.
Eigen::Matrix3d make_joint_frame(const Eigen::Vector3d& axis,
                                 const Eigen::Vector3d& zero_direction);

/// Sets the principal moments (J_xx, J_yy, J_zz) of a body [kg·m²]; products are unchanged.
void set_inertia(Mechanism& mechanism, int body, const Eigen::Vector3d& moments);

/// Sets the joint point in the frames of body a and body b [m].
void set_joint_points(Mechanism& mechanism, int joint, const Eigen::Vector3d& point_a,
                      const Eigen::Vector3d& point_b);

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

/// Dimensions of a chain of equal links, by default slender rods.
struct ChainDescription {
  int links = 1;        ///< number of links, ≥ 1
  double mass = 0.2;    ///< mass of a link [kg], > 0
  double length = 0.3;  ///< distance between joints [m], > 0; the centre of mass is in the middle
  double inertia_axial = 1e-5;    ///< moment of inertia about the link's x axis [kg·m²]
  double inertia_swing = 1.5e-3;  ///< moments about y and z through the centre of mass [kg·m²]
  /// Point in the world's plane z = 0 at which an additional joint holds the tip of the last link
  /// and closes a loop [m]. Three links and a closing joint form a four-bar linkage.
  std::optional<Eigen::Vector3d> closing_point = std::nullopt;
};

/// Builds links "L1" … "Ln" on joints "1" … "n", all axes along world z, joint 1 at the origin.
///
/// Frame of a link: x from its joint to the next, z along the joint axis. θ₁ = 0 hangs down. The
/// other angles are relative to the previous link and zero when the two are aligned. The closing
/// joint is named by its number n + 1 and has no encoder. Its angle is the last link's, zero when
/// hanging.
Mechanism make_chain(const ChainDescription& description = {});

}  // namespace estimator
