#include "firmware_iface/sim/pendulum_plant.hpp"

#include <cmath>

namespace firmware_iface::sim {
namespace {

// Unit vector from the joint to the centre of mass, and its derivative with respect to θ.
Vector3 rod_direction(double theta) { return {std::sin(theta), -std::cos(theta), 0.0}; }
Vector3 rod_normal(double theta) { return {std::cos(theta), std::sin(theta), 0.0}; }

}  // namespace

PendulumModel::PendulumModel(const PendulumParameters& parameters)
    : p_(parameters), g_(tilted_gravity(parameters.gravity, parameters.tilt)) {}

// (J + m l²) θ̈ = m l g·n + K (u − k_e ω) − b ω − c |ω| ω + τ.
RigModel::Terms PendulumModel::terms(const JointState& state, double command_V) const {
  const double omega = state.speed_rad_s[0];
  Terms terms;
  terms.mass_matrix[0][0] = p_.inertia + p_.mass * p_.center_distance * p_.center_distance;
  terms.force[0] = p_.mass * p_.center_distance * dot(g_, rod_normal(state.angle_rad[0])) +
                   p_.motor_gain * (command_V - p_.back_emf * omega) +
                   p_.friction.smooth_torque(omega);
  return terms;
}

JointArray PendulumModel::bearing_loads(const JointState& state,
                                        const JointArray& acceleration) const {
  const double omega = state.speed_rad_s[0];
  const Vector3 a =
      sum(scaled(p_.center_distance * acceleration[0], rod_normal(state.angle_rad[0])),
          scaled(-p_.center_distance * omega * omega, rod_direction(state.angle_rad[0])));
  return {p_.mass * norm(difference(a, g_)), 0.0};
}

BodyMotion PendulumModel::body_motion(int /*joint*/, const JointState& state,
                                      const JointArray& acceleration) const {
  constexpr Vector3 kJoint = {0.0, 0.0, 1.0};
  const double omega = state.speed_rad_s[0];
  const Vector3 rod = rod_direction(state.angle_rad[0]);
  const Vector3 normal = rod_normal(state.angle_rad[0]);
  const Vector3 a = sum(scaled(p_.center_distance * acceleration[0], normal),
                        scaled(-p_.center_distance * omega * omega, rod));
  return {{rod, normal, kJoint},
          scaled(omega, kJoint),
          scaled(acceleration[0], kJoint),
          difference(a, g_)};
}

double PendulumModel::energy(const JointState& state) const {
  const double omega = state.speed_rad_s[0];
  const double J = p_.inertia + p_.mass * p_.center_distance * p_.center_distance;
  return 0.5 * J * omega * omega -
         p_.mass * p_.center_distance * dot(g_, rod_direction(state.angle_rad[0]));
}

}  // namespace firmware_iface::sim
