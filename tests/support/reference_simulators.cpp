#include "tests/support/reference_simulators.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "tests/support/ode_solver.hpp"

namespace test_support {
namespace {

double dry_friction_torque(const ReferencePendulum& rig, double omega) {
  return rig.tau_c + (rig.tau_s - rig.tau_c) * std::exp(-rig.zeta * omega * omega);
}

// Pendulum with the dry torque acting as if ω had the given sign, whatever ω is.
OdeFunction pendulum_with_sign(const ReferencePendulum& rig, double sign) {
  return [&rig, sign](const Eigen::VectorXd& y) -> Eigen::VectorXd {
    const double omega = y[1];
    const double torque = -rig.m * rig.g * rig.l * std::sin(y[0]) - rig.b * omega -
                          rig.c * std::abs(omega) * omega - sign * dry_friction_torque(rig, omega);
    return Eigen::Vector2d(omega, torque / (rig.J + rig.m * rig.l * rig.l));
  };
}

// Advances by one period, split at reversals. `sign` is that of the motion; 0 while stuck.
Eigen::VectorXd advance_pendulum(const ReferencePendulum& rig, OdeSolver& solver, Eigen::VectorXd y,
                                 double& sign, double period) {
  double remaining = period;
  while (remaining > 0.0) {
    if (sign == 0.0) {
      const double drive = -rig.m * rig.g * rig.l * std::sin(y[0]);
      if (std::abs(drive) <= std::max(rig.tau_s, rig.tau_c)) return y;
      sign = drive > 0.0 ? 1.0 : -1.0;
    }
    const OdeFunction f = pendulum_with_sign(rig, sign);
    const Eigen::VectorXd next = solver.advance(f, y, remaining);
    if (next[1] * sign >= 0.0) return next;
    // The speed changed sign: find the reversal by bisection, which is simple and slow.
    double before = 0.0, after = remaining;
    while (after - before > 1e-15 + 1e-14 * remaining) {
      const double middle = 0.5 * (before + after);
      (solver.advance(f, y, middle)[1] * sign >= 0.0 ? before : after) = middle;
    }
    y = solver.advance(f, y, after);
    y[1] = 0.0;
    sign = 0.0;
    remaining -= after;
  }
  return y;
}

double smoothed_sign(const ReferenceFuruta& rig, double omega) {
  const double x = omega / rig.smoothing_speed;
  return rig.friction == DryFriction::kTanh ? std::tanh(x) : std::clamp(x, -1.0, 1.0);
}

Eigen::Vector3d gravity_vector(const ReferenceFuruta& rig) {
  const double angle = rig.tilt.norm();
  const Eigen::Vector3d down(0.0, -rig.g, 0.0);
  if (angle == 0.0) return down;
  return Eigen::AngleAxisd(angle, rig.tilt / angle) * down;
}

Eigen::Matrix2d furuta_mass_matrix(const ReferenceFuruta& rig, double theta2) {
  const double s = std::sin(theta2), c = std::cos(theta2);
  const double A = rig.m_B * rig.l_2 * rig.l_2 + rig.J_Bzz - rig.J_Bxx;
  const double M11 = rig.J_Azz + rig.J_shaft + rig.m_A * rig.l_1 * rig.l_1 +
                     rig.m_B * rig.L_arm * rig.L_arm + rig.J_Bxx + A * s * s;
  const double M12 = rig.m_B * rig.L_arm * rig.l_2 * c;
  const double M22 = rig.J_Byy + rig.m_B * rig.l_2 * rig.l_2;
  Eigen::Matrix2d M;
  M << M11, M12, M12, M22;
  return M;
}

Eigen::VectorXd furuta_derivative(const ReferenceFuruta& rig, const Eigen::Vector3d& gravity,
                                  double u, const Eigen::VectorXd& y) {
  const double s1 = std::sin(y[0]), c1 = std::cos(y[0]);
  const double s = std::sin(y[1]), c = std::cos(y[1]);
  const double w1 = y[2], w2 = y[3];
  const Eigen::Vector3d e_r(c1, 0.0, -s1), e_theta(-s1, 0.0, -c1), up(0.0, 1.0, 0.0);
  // Gravity's generalised forces: m g · ∂r/∂θ.
  const Eigen::Vector3d r_B_1 = rig.L_arm * e_theta - rig.l_2 * s * e_r;
  const Eigen::Vector3d r_B_2 = rig.l_2 * (s * up + c * e_theta);
  const double G1 = rig.m_A * rig.l_1 * gravity.dot(e_theta) + rig.m_B * gravity.dot(r_B_1);
  const double G2 = rig.m_B * gravity.dot(r_B_2);

  const double A = rig.m_B * rig.l_2 * rig.l_2 + rig.J_Bzz - rig.J_Bxx;
  const double B = rig.m_B * rig.L_arm * rig.l_2;
  const Eigen::Vector2d torque(
      G1 + rig.K * (u - rig.k_e * w1) - rig.b_1 * w1 - rig.tau_c1 * smoothed_sign(rig, w1) -
          2.0 * A * s * c * w1 * w2 + B * s * w2 * w2,
      G2 - rig.b_2 * w2 - rig.tau_c2 * smoothed_sign(rig, w2) + A * s * c * w1 * w1);
  const Eigen::Vector2d acceleration = furuta_mass_matrix(rig, y[1]).inverse() * torque;
  return Eigen::Vector4d(w1, w2, acceleration[0], acceleration[1]);
}

/// Returns the time derivative of the slider mechanism's state. Lagrange's equations are in (θ, s,
/// α), where α = θ + φ is the pendulum's angle from hanging. With e = (sin, −cos) of an angle and n
/// its derivative, the pendulum's centre of mass is at s e(θ) + l e(α) and moves with ṡ e(θ) + s θ̇
/// n(θ) + l α̇ n(α). The kinetic energy is therefore
///   T = ½ (I_1 + J_2) θ̇² + ½ M (ṡ² + s²θ̇²) + ½ m_s ṡ² + ½ (J_3 + m_3 l²) α̇²
///       + m_3 l α̇ (s θ̇ cos φ − ṡ sin φ),   M = m_2 + m_3.
Eigen::VectorXd slider_derivative(const ReferenceSlider& rig, const Eigen::VectorXd& y, double u) {
  const double theta = y[0], s = y[1], phi = y[2], alpha = theta + phi;
  const double v = y[3], w = y[4], turn = y[5], spin = v + turn;  // θ̇, ṡ, φ̇, α̇
  const double M = rig.m_2 + rig.m_3, ml = rig.m_3 * rig.l_3;
  const double sine = std::sin(phi), cosine = std::cos(phi);
  Eigen::Matrix3d mass;
  mass << rig.I_1 + rig.J_2 + M * s * s, 0.0, ml * s * cosine,  //
      0.0, M + rig.m_shaft, -ml * sine,                         //
      ml * s * cosine, -ml * sine, rig.J_3 + ml * rig.l_3;
  // dT/dφ of the mixed term; it enters with θ̇ and α̇ as −1 and +1.
  const double mixed = -ml * spin * (s * v * sine + w * cosine);
  Eigen::Vector3d force;
  force[0] = -(rig.m_1 * rig.l_1 + M * s) * rig.g * std::sin(theta) - rig.b_1 * v + rig.b_3 * turn -
             2.0 * M * s * w * v - ml * (spin * w * cosine - spin * s * sine * turn) - mixed;
  force[1] = M * rig.g * std::cos(theta) - rig.k * (s - rig.rest) - rig.b_2 * w -
             rig.c_2 * std::abs(w) * w + rig.K * u + ml * spin * cosine * turn + M * s * v * v +
             ml * spin * v * cosine;
  force[2] = -ml * rig.g * std::sin(alpha) - rig.b_3 * turn -
             ml * (-w * cosine * turn + w * v * cosine - s * v * sine * turn) + mixed;
  const Eigen::Vector3d acceleration = mass.inverse() * force;
  Eigen::VectorXd derivative(6);
  derivative << v, w, turn, acceleration[0], acceleration[1], acceleration[2] - acceleration[0];
  return derivative;
}

Eigen::VectorXd chain_derivative(const ReferenceChain& chain, const Eigen::VectorXd& y) {
  const int n = chain.links;
  // lever(k, i): the length of link i between the ground and the centre of mass of link k.
  const auto lever = [&](int k, int i) { return i < k ? chain.l : i == k ? 0.5 * chain.l : 0.0; };
  Eigen::MatrixXd M = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd torque = Eigen::VectorXd::Zero(n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double a = 0.0;
      for (int k = 0; k < n; ++k) a += chain.m * lever(k, i) * lever(k, j);
      M(i, j) = a * std::cos(y[i] - y[j]) + (i == j ? chain.J : 0.0);
      torque[i] -= a * std::sin(y[i] - y[j]) * y[n + j] * y[n + j];
    }
    for (int k = 0; k < n; ++k) torque[i] -= chain.m * chain.g * lever(k, i) * std::sin(y[i]);
  }
  Eigen::VectorXd derivative(2 * n);
  derivative << y.tail(n), M.partialPivLu().solve(torque);
  return derivative;
}

/// Returns the trajectory at times 0, period, …, count·period.
/// @param derivative  of the state during one period, from its number
template <typename Derivative>
Eigen::MatrixXd sample(Eigen::VectorXd y, double period, Eigen::Index count,
                       const Derivative& derivative) {
  OdeSolver solver;
  Eigen::MatrixXd trajectory(count + 1, y.size());
  trajectory.row(0) = y.transpose();
  for (Eigen::Index k = 0; k < count; ++k) {
    y = solver.advance([&](const Eigen::VectorXd& at) { return derivative(at, k); }, y, period);
    trajectory.row(k + 1) = y.transpose();
  }
  return trajectory;
}

}  // namespace

double ReferencePendulum::energy(const Eigen::Vector2d& y) const {
  return 0.5 * (J + m * l * l) * y[1] * y[1] - m * g * l * std::cos(y[0]);
}

Eigen::MatrixXd simulate(const ReferencePendulum& rig, const Eigen::Vector2d& start, double period,
                         int count) {
  OdeSolver solver;
  Eigen::MatrixXd trajectory(count + 1, 2);
  trajectory.row(0) = start.transpose();
  Eigen::VectorXd y = start;
  double sign = y[1] > 0.0 ? 1.0 : y[1] < 0.0 ? -1.0 : 0.0;
  for (int k = 1; k <= count; ++k) {
    y = advance_pendulum(rig, solver, y, sign, period);
    trajectory.row(k) = y.transpose();
  }
  return trajectory;
}

double ReferenceFuruta::energy(const Eigen::Vector4d& y) const {
  const Eigen::Vector2d omega = y.tail<2>();
  const Eigen::Vector3d e_r(std::cos(y[0]), 0.0, -std::sin(y[0]));
  const Eigen::Vector3d e_theta(-std::sin(y[0]), 0.0, -std::cos(y[0]));
  const Eigen::Vector3d rod = -std::cos(y[1]) * Eigen::Vector3d::UnitY() + std::sin(y[1]) * e_theta;
  const double height_term =
      gravity_vector(*this).dot(m_A * l_1 * e_r + m_B * (L_arm * e_r + l_2 * rod));
  return 0.5 * omega.dot(furuta_mass_matrix(*this, y[1]) * omega) - height_term;
}

Eigen::MatrixXd simulate(const ReferenceFuruta& rig, const Eigen::Vector4d& start,
                         const Eigen::VectorXd& u, double period) {
  const Eigen::Vector3d gravity = gravity_vector(rig);
  return sample(start, period, u.size(), [&](const Eigen::VectorXd& y, Eigen::Index k) {
    return furuta_derivative(rig, gravity, u[k], y);
  });
}

Eigen::MatrixXd simulate(const ReferenceChain& chain, const Eigen::VectorXd& start, double period,
                         int count) {
  return sample(start, period, count,
                [&](const Eigen::VectorXd& y, Eigen::Index) { return chain_derivative(chain, y); });
}

Eigen::MatrixXd simulate(const ReferenceSlider& rig, const Eigen::Matrix<double, 6, 1>& start,
                         const Eigen::VectorXd& u, double period) {
  return sample(start, period, u.size(), [&](const Eigen::VectorXd& y, Eigen::Index k) {
    return slider_derivative(rig, y, u[k]);
  });
}

}  // namespace test_support
