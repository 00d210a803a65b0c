#pragma once

#include "firmware_iface/sim/plant.hpp"

namespace firmware_iface::sim {

/// Parameters of a pendulum on one joint along world z. Its angle θ is 0 hanging, positive toward
/// world x. The body's x axis points from the joint to its centre of mass, z along the joint.
struct PendulumParameters {
  double mass = 0.428;             ///< m [kg]
  double center_distance = 0.092;  ///< l, joint to centre of mass [m]
  double inertia = 0.0039;         ///< J about the centre of mass [kg·m²]
  double motor_gain = 0.0;         ///< K [N·m/V]; 0: no motor
  double back_emf = 0.0;           ///< k_e: torque K (u − k_e ω) [V·s/rad]
  JointFriction friction;
  JointStops stops;
  double gravity = 9.82;  ///< [m/s²]
  Vector3 tilt{};         ///< rotation vector of gravity [rad]
};

class PendulumModel final : public RigModel {
 public:
  explicit PendulumModel(const PendulumParameters& parameters);

  int joint_count() const override { return 1; }
  EquationTerms terms(const JointState& state, double command_V) const override;
  JointArray bearing_forces(const JointState& state, const JointArray& acceleration) const override;
  BodyMotion compute_body_motion(int joint, const JointState& state,
                                 const JointArray& acceleration) const override;
  const JointFriction& friction(int /*joint*/) const override { return p_.friction; }
  const JointStops& stops(int /*joint*/) const override { return p_.stops; }
  double energy(const JointState& state) const override;

 private:
  PendulumParameters p_;
  Vector3 g_;  // gravity in the world [m/s²]
};

/// Parameters of a Furuta pendulum. A motor turns the arm A about world y (up) by the angle θ1. The
/// pendulum B turns about the arm by θ2, 0 hanging and π upright. The unit vector along the arm is
/// e_r = (cos θ1, 0, −sin θ1). Inertias are about the centres of mass: body A with x along the arm
/// and z up, body B with x from the joint to its centre of mass and y along the joint.
struct FurutaParameters {
  double arm_mass = 0.238;                  ///< m_A [kg]
  double arm_center_distance = 0.128;       ///< l_1, joint 1 to the arm's centre of mass [m]
  double arm_length = 0.376;                ///< L, joint 1 to joint 2 [m]
  double arm_inertia_zz = 0.0044;           ///< J_Azz [kg·m²]
  double shaft_inertia = 0.0004;            ///< J_shaft, adds to joint 1 [kg·m²]
  double pendulum_mass = 0.428;             ///< m_B [kg]
  double pendulum_center_distance = 0.092;  ///< l_2 [m]
  double pendulum_inertia_xx = 0.0001;      ///< J_Bxx [kg·m²]
  double pendulum_inertia_yy = 0.00396;     ///< J_Byy [kg·m²]
  double pendulum_inertia_zz = 0.0039;      ///< J_Bzz [kg·m²]
  double motor_gain = 0.0729;               ///< K [N·m/V]
  double back_emf = 0.0;                    ///< k_e: torque K (u − k_e ω1) [V·s/rad]
  JointFriction arm_friction;
  JointFriction pendulum_friction;
  JointStops arm_stops;
  JointStops pendulum_stops;
  double gravity = 9.82;  ///< [m/s²]
  Vector3 tilt{};         ///< rotation vector of gravity [rad]
};

class FurutaModel final : public RigModel {
 public:
  explicit FurutaModel(const FurutaParameters& parameters);

  int joint_count() const override { return 2; }
  EquationTerms terms(const JointState& state, double command_V) const override;
  JointArray bearing_forces(const JointState& state, const JointArray& acceleration) const override;
  BodyMotion compute_body_motion(int joint, const JointState& state,
                                 const JointArray& acceleration) const override;
  const JointFriction& friction(int joint) const override {
    return joint == 0 ? p_.arm_friction : p_.pendulum_friction;
  }
  const JointStops& stops(int joint) const override {
    return joint == 0 ? p_.arm_stops : p_.pendulum_stops;
  }
  double energy(const JointState& state) const override;

 private:
  struct Accelerations {
    Vector3 arm, pendulum;  // of the centres of mass [m/s²]
  };
  Accelerations compute_accelerations(const JointState& state,
                                      const JointArray& acceleration) const;

  FurutaParameters p_;
  Vector3 g_;  // gravity in the world [m/s²]
};

}  // namespace firmware_iface::sim
