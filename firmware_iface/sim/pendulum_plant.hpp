#pragma once

#include "firmware_iface/sim/plant.hpp"
#include "firmware_iface/sim/vector3.hpp"

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
  Terms terms(const JointState& state, double command_V) const override;
  JointArray bearing_loads(const JointState& state, const JointArray& acceleration) const override;
  BodyMotion body_motion(int joint, const JointState& state,
                         const JointArray& acceleration) const override;
  const JointFriction& friction(int /*joint*/) const override { return p_.friction; }
  const JointStops& stops(int /*joint*/) const override { return p_.stops; }
  double energy(const JointState& state) const override;

 private:
  PendulumParameters p_;
  Vector3 g_;  // gravity in the world [m/s²]
};

}  // namespace firmware_iface::sim
