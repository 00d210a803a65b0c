#include "tests/bench/rigs/planar_models.hpp"

#include <cmath>

namespace random_rigs {

using firmware_iface::sim::JointState;

// With c, s of θ2 and k = m2 L1 l2:
//   M11 = J1 + m1 l1² + J2 + m2 (L1² + l2²) + 2 k c,  M12 = J2 + m2 l2² + k c,  M22 = J2 + m2 l2²,
//   M11 θ̈1 + M12 θ̈2 − k s (2 θ̇1 + θ̇2) θ̇2 = Q1,   M12 θ̈1 + M22 θ̈2 + k s θ̇1² = Q2.
DoublePendulumModel::EquationTerms DoublePendulumModel::terms(const JointState& state,
                                                              double command) const {
  const double w1 = state.speed_rad_s[0], w2 = state.speed_rad_s[1];
  const double s = std::sin(state.angle_rad[1]), c = std::cos(state.angle_rad[1]);
  const double k = p_.m_2 * p_.L_1 * p_.l_2;
  const double inner = p_.J_2 + p_.m_2 * p_.l_2 * p_.l_2;
  EquationTerms terms;
  terms.mass_matrix[0][0] =
      p_.J_1 + p_.m_1 * p_.l_1 * p_.l_1 + p_.m_2 * p_.L_1 * p_.L_1 + inner + 2.0 * k * c;
  terms.mass_matrix[0][1] = terms.mass_matrix[1][0] = inner + k * c;
  terms.mass_matrix[1][1] = inner;
  const double sum = std::sin(state.angle_rad[0] + state.angle_rad[1]);
  const double outer_weight = p_.m_2 * p_.gravity * p_.l_2 * sum;
  const double weight = (p_.m_1 * p_.l_1 + p_.m_2 * p_.L_1) * p_.gravity;
  terms.force[0] = -weight * std::sin(state.angle_rad[0]) - outer_weight +
                   k * s * (2.0 * w1 + w2) * w2 + p_.motor_gain * command +
                   p_.friction_1.smooth_torque(w1);
  terms.force[1] = -outer_weight - k * s * w1 * w1 + p_.friction_2.smooth_torque(w2);
  return terms;
}

double DoublePendulumModel::energy(const JointState& state) const {
  const auto M = terms(state, 0.0).mass_matrix;
  const double w1 = state.speed_rad_s[0], w2 = state.speed_rad_s[1];
  const double height = -(p_.m_1 * p_.l_1 + p_.m_2 * p_.L_1) * std::cos(state.angle_rad[0]) -
                        p_.m_2 * p_.l_2 * std::cos(state.angle_rad[0] + state.angle_rad[1]);
  return 0.5 * (M[0][0] * w1 * w1 + 2.0 * M[0][1] * w1 * w2 + M[1][1] * w2 * w2) +
         p_.gravity * height;
}

// The pole's centre of mass is at (x + l sin θ, −l cos θ):
//   (mc + mp) ẍ + mp l cos θ θ̈ − mp l sin θ θ̇² = K u,
//   mp l cos θ ẍ + (J + mp l²) θ̈ + mp g l sin θ
//   = 0.
CartPoleModel::EquationTerms CartPoleModel::terms(const JointState& state, double command) const {
  const double w = state.speed_rad_s[1];
  const double s = std::sin(state.angle_rad[1]), c = std::cos(state.angle_rad[1]);
  const double moment = p_.m_pole * p_.l;
  EquationTerms terms;
  terms.mass_matrix[0][0] = p_.m_cart + p_.m_pole;
  terms.mass_matrix[0][1] = terms.mass_matrix[1][0] = moment * c;
  terms.mass_matrix[1][1] = p_.J + moment * p_.l;
  terms.force[0] =
      p_.motor_gain * command + moment * s * w * w + p_.rail.smooth_torque(state.speed_rad_s[0]);
  terms.force[1] = -moment * p_.gravity * s + p_.pivot.smooth_torque(w);
  return terms;
}

double CartPoleModel::energy(const JointState& state) const {
  const auto M = terms(state, 0.0).mass_matrix;
  const double v = state.speed_rad_s[0], w = state.speed_rad_s[1];
  return 0.5 * (M[0][0] * v * v + 2.0 * M[0][1] * v * w + M[1][1] * w * w) -
         p_.m_pole * p_.gravity * p_.l * std::cos(state.angle_rad[1]);
}

}  // namespace random_rigs
