#include "firmware_iface/sim/plants.hpp"

#include <cmath>

namespace firmware_iface::sim {
namespace {

// Unit vector from the joint to the centre of mass, and its derivative with respect to θ.
Vector3 rod_direction(double theta) { return {std::sin(theta), -std::cos(theta), 0.0}; }
Vector3 rod_normal(double theta) { return {std::cos(theta), std::sin(theta), 0.0}; }

constexpr Vector3 kUp = {0.0, 1.0, 0.0};

// Unit vectors along the arm, and in the direction of its tip's motion.
Vector3 radial(double theta1) { return {std::cos(theta1), 0.0, -std::sin(theta1)}; }
Vector3 tangential(double theta1) { return {-std::sin(theta1), 0.0, -std::cos(theta1)}; }

}  // namespace

PendulumModel::PendulumModel(const PendulumParameters& parameters)
    : p_(parameters), g_(tilted_gravity(parameters.gravity, parameters.tilt)) {}

// (J + m l²) θ̈ = m l g·n + K (u − k_e ω) − b ω − c |ω| ω + τ.
RigModel::EquationTerms PendulumModel::terms(const JointState& state, double command_V) const {
  const double omega = state.speed_rad_s[0];
  EquationTerms terms;
  terms.mass_matrix[0][0] = p_.inertia + p_.mass * p_.center_distance * p_.center_distance;
  terms.force[0] = p_.mass * p_.center_distance * dot(g_, rod_normal(state.angle_rad[0])) +
                   p_.motor_gain * (command_V - p_.back_emf * omega) +
                   p_.friction.smooth_torque(omega);
  return terms;
}

JointArray PendulumModel::bearing_forces(const JointState& state,
                                         const JointArray& acceleration) const {
  const double omega = state.speed_rad_s[0];
  const Vector3 a =
      sum(scale_vector(p_.center_distance * acceleration[0], rod_normal(state.angle_rad[0])),
          scale_vector(-p_.center_distance * omega * omega, rod_direction(state.angle_rad[0])));
  return {p_.mass * norm(subtract_vectors(a, g_)), 0.0};
}

BodyMotion PendulumModel::compute_body_motion(int /*joint*/, const JointState& state,
                                              const JointArray& acceleration) const {
  constexpr Vector3 kJoint = {0.0, 0.0, 1.0};
  const double omega = state.speed_rad_s[0];
  const Vector3 rod = rod_direction(state.angle_rad[0]);
  const Vector3 normal = rod_normal(state.angle_rad[0]);
  const Vector3 a = sum(scale_vector(p_.center_distance * acceleration[0], normal),
                        scale_vector(-p_.center_distance * omega * omega, rod));
  return {{rod, normal, kJoint},
          scale_vector(omega, kJoint),
          scale_vector(acceleration[0], kJoint),
          subtract_vectors(a, g_)};
}

double PendulumModel::energy(const JointState& state) const {
  const double omega = state.speed_rad_s[0];
  const double J = p_.inertia + p_.mass * p_.center_distance * p_.center_distance;
  return 0.5 * J * omega * omega -
         p_.mass * p_.center_distance * dot(g_, rod_direction(state.angle_rad[0]));
}

FurutaModel::FurutaModel(const FurutaParameters& parameters)
    : p_(parameters), g_(tilted_gravity(parameters.gravity, parameters.tilt)) {}

// Lagrange's equations with s, c of θ2 and A = m_B l_2² + J_Bzz − J_Bxx:
//   M11 = J_Azz + J_shaft + m_A l_1² + m_B L² + J_Bxx + A s²,  M12 = m_B L l_2 c,
//   M22 = J_Byy + m_B l_2²,
//   M11 θ̈1 + M12 θ̈2 + 2 A s c θ̇1 θ̇2 − m_B L l_2 s θ̇2² = Q1,
//   M12 θ̈1 + M22 θ̈2 − A s c θ̇1²                      = Q2.
RigModel::EquationTerms FurutaModel::terms(const JointState& state, double command_V) const {
  const double w1 = state.speed_rad_s[0];
  const double w2 = state.speed_rad_s[1];
  const double s = std::sin(state.angle_rad[1]);
  const double c = std::cos(state.angle_rad[1]);
  const double m_B = p_.pendulum_mass;
  const double L = p_.arm_length;
  const double l_2 = p_.pendulum_center_distance;
  const double A = m_B * l_2 * l_2 + p_.pendulum_inertia_zz - p_.pendulum_inertia_xx;

  EquationTerms terms;
  auto& M = terms.mass_matrix;
  M[0][0] = p_.arm_inertia_zz + p_.shaft_inertia +
            p_.arm_mass * p_.arm_center_distance * p_.arm_center_distance + m_B * L * L +
            p_.pendulum_inertia_xx + A * s * s;
  M[0][1] = M[1][0] = m_B * L * l_2 * c;
  M[1][1] = p_.pendulum_inertia_yy + m_B * l_2 * l_2;

  // Generalized gravity force: gravity times the derivatives of the centres of mass by θ1 and θ2.
  const Vector3 e_r = radial(state.angle_rad[0]);
  const Vector3 e_t = tangential(state.angle_rad[0]);
  const Vector3 tip = subtract_vectors(scale_vector(L, e_t), scale_vector(l_2 * s, e_r));
  const double gravity_1 = p_.arm_mass * p_.arm_center_distance * dot(g_, e_t) + m_B * dot(g_, tip);
  const double gravity_2 = m_B * l_2 * dot(g_, sum(scale_vector(s, kUp), scale_vector(c, e_t)));

  terms.force[0] = gravity_1 - 2.0 * A * s * c * w1 * w2 + m_B * L * l_2 * s * w2 * w2 +
                   p_.motor_gain * (command_V - p_.back_emf * w1) +
                   p_.arm_friction.smooth_torque(w1);
  terms.force[1] = gravity_2 + A * s * c * w1 * w1 + p_.pendulum_friction.smooth_torque(w2);
  return terms;
}

FurutaModel::Accelerations FurutaModel::compute_accelerations(
    const JointState& state, const JointArray& acceleration) const {
  const double w1 = state.speed_rad_s[0];
  const double w2 = state.speed_rad_s[1];
  const double a1 = acceleration[0];
  const double a2 = acceleration[1];
  const double s = std::sin(state.angle_rad[1]);
  const double c = std::cos(state.angle_rad[1]);
  const Vector3 e_r = radial(state.angle_rad[0]);
  const Vector3 e_t = tangential(state.angle_rad[0]);

  const Vector3 arm = subtract_vectors(scale_vector(a1, e_t), scale_vector(w1 * w1, e_r));  // ë_r
  // Second derivative of the rod's direction  s e_t − c up.
  const Vector3 rod = sum(sum(scale_vector(c * w2 * w2 + s * a2, kUp),
                              scale_vector(c * a2 - s * w2 * w2 - s * w1 * w1, e_t)),
                          scale_vector(-2.0 * c * w1 * w2 - s * a1, e_r));
  return {scale_vector(p_.arm_center_distance, arm),
          sum(scale_vector(p_.arm_length, arm), scale_vector(p_.pendulum_center_distance, rod))};
}

// Newton's law: bearing 2 carries body B, bearing 1 both bodies.
JointArray FurutaModel::bearing_forces(const JointState& state,
                                       const JointArray& acceleration) const {
  const Accelerations a = compute_accelerations(state, acceleration);
  const Vector3 F_2 = scale_vector(p_.pendulum_mass, subtract_vectors(a.pendulum, g_));
  const Vector3 F_1 = sum(scale_vector(p_.arm_mass, subtract_vectors(a.arm, g_)), F_2);
  return {norm(F_1), norm(F_2)};
}

// The arm turns about the vertical. The pendulum turns with it and about the turning arm.
BodyMotion FurutaModel::compute_body_motion(int joint, const JointState& state,
                                            const JointArray& acceleration) const {
  const Accelerations a = compute_accelerations(state, acceleration);
  const double w1 = state.speed_rad_s[0];
  const double w2 = state.speed_rad_s[1];
  const Vector3 e_r = radial(state.angle_rad[0]);
  const Vector3 e_t = tangential(state.angle_rad[0]);
  if (joint == 0) {
    return {{e_r, cross(kUp, e_r), kUp},
            scale_vector(w1, kUp),
            scale_vector(acceleration[0], kUp),
            subtract_vectors(a.arm, g_)};
  }
  const Vector3 rod = subtract_vectors(scale_vector(std::sin(state.angle_rad[1]), e_t),
                                       scale_vector(std::cos(state.angle_rad[1]), kUp));
  return {{rod, e_r, cross(rod, e_r)},
          sum(scale_vector(w1, kUp), scale_vector(w2, e_r)),
          sum(sum(scale_vector(acceleration[0], kUp), scale_vector(acceleration[1], e_r)),
              scale_vector(w1 * w2, e_t)),
          subtract_vectors(a.pendulum, g_)};
}

double FurutaModel::energy(const JointState& state) const {
  const auto M = terms(state, 0.0).mass_matrix;
  const double w1 = state.speed_rad_s[0];
  const double w2 = state.speed_rad_s[1];
  const double s = std::sin(state.angle_rad[1]);
  const double c = std::cos(state.angle_rad[1]);
  const Vector3 e_r = radial(state.angle_rad[0]);
  const Vector3 e_t = tangential(state.angle_rad[0]);
  const Vector3 x_A = scale_vector(p_.arm_center_distance, e_r);
  const Vector3 rod = subtract_vectors(scale_vector(s, e_t), scale_vector(c, kUp));
  const Vector3 x_B =
      sum(scale_vector(p_.arm_length, e_r), scale_vector(p_.pendulum_center_distance, rod));
  return 0.5 * (M[0][0] * w1 * w1 + 2.0 * M[0][1] * w1 * w2 + M[1][1] * w2 * w2) -
         p_.arm_mass * dot(g_, x_A) - p_.pendulum_mass * dot(g_, x_B);
}

}  // namespace firmware_iface::sim
