#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <random>

#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/spook/joint_terms.hpp"

namespace estimator {

/// One SPOOK step as dense matrices, directly from the equations, as reference for the stepper,
/// which works on blocks. The matrix M̂ is the mass matrix M plus the implicit terms of the joint
/// axes, M̂ = M + Σ_j D_j Ḡ_jᵀ Ḡ_j.
struct DenseStep {
  Eigen::MatrixXd M_hat, A, A_bar;  // 6b × 6b, 5n × 6b, n × 6b
  Eigen::VectorXd p, c, sigma, gamma;
  Eigen::VectorXd dry_bound, stick_speed;  // n, load-independent part [N·m·s], [rad/s]

  DenseStep(const Mechanism& mechanism, const State& state, const Eigen::VectorXd& control,
            double h) {
    const ModelParameterValues values = unpack_parameters(mechanism);
    const int b = mechanism.body_count();
    M_hat = Eigen::MatrixXd::Zero(6 * b, 6 * b);
    p = Eigen::VectorXd::Zero(6 * b);
    for (int i = 0; i < b; ++i) {
      const BodyValues& body = values.bodies[static_cast<std::size_t>(i)];
      const Eigen::Matrix3d R = state.poses[static_cast<std::size_t>(i)].e.toRotationMatrix();
      const Eigen::Matrix3d J_w = R * body.inertia * R.transpose();
      const Eigen::Vector3d omega = state.velocity.segment<3>(6 * i + 3);
      M_hat.block<3, 3>(6 * i, 6 * i) = body.mass * Eigen::Matrix3d::Identity();
      M_hat.block<3, 3>(6 * i + 3, 6 * i + 3) = J_w;
      p.segment<3>(6 * i) = body.mass * (state.velocity.segment<3>(6 * i) + h * values.gravity);
      p.segment<3>(6 * i + 3) = J_w * omega - h * omega.cross(J_w * omega);
    }
    A = constraint_jacobian(mechanism, values, state.poses);
    fill_rows(mechanism, values, state, h);
    fill_axes(mechanism, values, state, control, h);
  }

  /// Returns the next velocity v⁺ and the constraint impulses λ without dry friction: [M̂ −Aᵀ; A Σ]
  /// (v⁺, λ) = (p, c).
  Eigen::VectorXd solve_without_dry_friction() const {
    const Eigen::Index v = M_hat.rows(), rows = A.rows();
    Eigen::MatrixXd kkt(v + rows, v + rows);
    kkt << M_hat, -A.transpose(), A, Eigen::MatrixXd(sigma.asDiagonal());
    Eigen::VectorXd rhs(v + rows);
    rhs << p, c;
    return kkt.fullPivLu().solve(rhs);
  }

 private:
  void fill_rows(const Mechanism& mechanism, const ModelParameterValues& values, const State& state,
                 double h) {
    const int n = mechanism.joint_count();
    sigma.resize(5 * n);
    gamma.resize(5 * n);
    for (int j = 0; j < n; ++j) {
      const Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
      for (int row = 0; row < 5; ++row) {
        const double epsilon =
            row < 3 ? joint.spook.compliance_linear : joint.spook.compliance_angular;
        gamma[5 * j + row] = 1.0 / (1.0 + 4.0 * estimator::constraint_damping_time(joint, h) / h);
        sigma[5 * j + row] = 4.0 * epsilon / (h * h) * gamma[5 * j + row];
      }
    }
    const Eigen::VectorXd g = constraint_violation(mechanism, values, state.poses);
    c = gamma.cwiseProduct(A * state.velocity - 4.0 / h * g);
  }

  void fill_axes(const Mechanism& mechanism, const ModelParameterValues& values, const State& state,
                 const Eigen::VectorXd& control, double h) {
    const int n = mechanism.joint_count();
    A_bar = Eigen::MatrixXd::Zero(n, M_hat.rows());
    dry_bound.resize(n);
    stick_speed.resize(n);
    int motor = 0;
    for (int j = 0; j < n; ++j) {
      const Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
      const JointParameterValues& joint_values = values.joints[static_cast<std::size_t>(j)];
      const Eigen::Vector3d axis =
          state.poses[static_cast<std::size_t>(joint.body_b)].e * joint.frame_b.col(0).eval();
      A_bar.block<1, 3>(j, 6 * joint.body_b + 3) = axis.transpose();
      if (joint.body_a != Joint::kGround) {
        A_bar.block<1, 3>(j, 6 * joint.body_a + 3) = -axis.transpose();
      }
      const double omega = A_bar.row(j).dot(state.velocity);
      const double u = joint.motor.present ? control[motor++] : 0.0;
      p += A_bar.row(j).transpose() *
           axis_impulse(joint_values, omega, joint_angle(joint, state.poses), u, h);
      M_hat += axis_damping(joint_values, omega, h) * A_bar.row(j).transpose() * A_bar.row(j);
      dry_bound[j] = dry_friction_impulse_bound(joint_values, omega, h);
      stick_speed[j] = joint.spook.stick_speed;
    }
  }
};

/// Returns a random state with joint angles of about `spread` [rad] and rates of about `rate`
/// [rad/s], off the constraints by about `violation` [m | rad].
inline State random_state(const Mechanism& mechanism, std::mt19937& engine, double spread,
                          double rate, double violation) {
  std::normal_distribution<double> normal;
  const auto gaussian = [&] { return normal(engine); };
  const int n = mechanism.joint_count(), b = mechanism.body_count();
  const Eigen::VectorXd angles = spread * Eigen::VectorXd::NullaryExpr(n, gaussian);
  const Eigen::VectorXd rates = rate * Eigen::VectorXd::NullaryExpr(n, gaussian);
  State state = assemble_state(mechanism, unpack_parameters(mechanism), angles, rates);
  for (int i = 0; i < b; ++i) {
    Pose& pose = state.poses[static_cast<std::size_t>(i)];
    const Eigen::Matrix<double, 6, 1> delta =
        violation * Eigen::Matrix<double, 6, 1>::NullaryExpr(gaussian);
    pose = apply_pose_increment(pose, delta);
  }
  state.velocity += violation * Eigen::VectorXd::NullaryExpr(6 * b, gaussian);
  return state;
}

/// The paper's pair formulation [Mar, eqs. 2.24–2.28] with METHOD section 3's corrections: per
/// joint ten normal rows (g ≥ 0, −g ≥ 0, point rows in joint axes), two tangential rows ±Ḡ and one
/// bound,
///
///   w_n = ±(A v⁺ − c) + Σ λ_n,  w_t = ±Ḡ v⁺ + Σ_t λ_t + σ,  w_σ = B_0 + U λ_n − 1ᵀ λ_t,
///
/// U repeated for the pair. v⁺ = M̂⁻¹ (p + Aᵀ λ + Ḡᵀ λ_f) is substituted.
struct PairFormulation {
  Eigen::MatrixXd M_inverse;
  Eigen::MatrixXd rows;  // 13n × 6b, zero rows for σ
  Eigen::MatrixXd H;     // of the complementarity problem w = H λ + q
  Eigen::VectorXd q;
};

/// @param sigma_t Σ_t of each joint [1/(kg·m²)]
inline PairFormulation make_pair_formulation(const Mechanism& mechanism, const State& state,
                                             const DenseStep& step,
                                             const Eigen::VectorXd& sigma_t) {
  const ModelParameterValues values = unpack_parameters(mechanism);
  const int n = mechanism.joint_count();
  PairFormulation pair;
  pair.M_inverse = step.M_hat.inverse();
  pair.rows = Eigen::MatrixXd::Zero(13 * n, step.M_hat.rows());
  Eigen::VectorXd offset = Eigen::VectorXd::Zero(13 * n);
  Eigen::MatrixXd regularisation = Eigen::MatrixXd::Zero(13 * n, 13 * n);
  for (int j = 0; j < n; ++j) {
    const Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    const JointParameterValues& joint_values = values.joints[static_cast<std::size_t>(j)];
    Eigen::Matrix<double, 5, 5> into_joint_axes = Eigen::Matrix<double, 5, 5>::Identity();
    into_joint_axes.topLeftCorner<3, 3>() =
        (state.poses[static_cast<std::size_t>(joint.body_b)].e.toRotationMatrix() * joint.frame_b)
            .transpose();
    const Eigen::MatrixXd G = into_joint_axes * step.A.middleRows(5 * j, 5);
    const Eigen::VectorXd c = into_joint_axes * step.c.segment<5>(5 * j);
    const int at = 13 * j;
    pair.rows.middleRows(at, 5) = G;
    pair.rows.middleRows(at + 5, 5) = -G;
    pair.rows.row(at + 10) = step.A_bar.row(j);
    pair.rows.row(at + 11) = -step.A_bar.row(j);
    offset.segment<5>(at) = -c;
    offset.segment<5>(at + 5) = c;
    offset[at + 12] = step.dry_bound[j];
    for (int row = 0; row < 5; ++row) {
      const double U = row < 3 ? joint_values.load_friction : joint_values.load_friction_angular;
      for (const int k : {at + row, at + 5 + row}) {
        regularisation(k, k) = step.sigma[5 * j + row];
        regularisation(at + 12, k) = U;
      }
    }
    for (const int k : {at + 10, at + 11}) {
      regularisation(k, k) = sigma_t[j];
      regularisation(k, at + 12) = 1.0;
      regularisation(at + 12, k) = -1.0;
    }
  }
  pair.H = pair.rows * pair.M_inverse * pair.rows.transpose() + regularisation;
  pair.q = pair.rows * (pair.M_inverse * step.p) + offset;
  return pair;
}

/// Sets one quantity of every joint.
inline void set_all(Mechanism& mechanism, JointParameter quantity, double value) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    mechanism.joint_parameter(j, quantity).value = value;
  }
}

/// Returns the mechanism with every kind of friction on every joint, and a motor with shaft inertia
/// and back-EMF on the first joint.
inline Mechanism with_friction(Mechanism mechanism, double load_friction,
                               double load_friction_angular) {
  set_all(mechanism, JointParameter::kViscous, 1e-3);
  set_all(mechanism, JointParameter::kQuadraticDrag, 2e-4);
  set_all(mechanism, JointParameter::kCoulombTorque, 6e-3);
  set_all(mechanism, JointParameter::kStribeckTorque, 3e-3);
  set_all(mechanism, JointParameter::kStribeckRate, 2.0);
  set_all(mechanism, JointParameter::kLoadFriction, load_friction);
  set_all(mechanism, JointParameter::kLoadFrictionAngular, load_friction_angular);
  mechanism.joint_parameter(0, JointParameter::kShaftInertia).value = 4e-4;
  mechanism.joint_parameter(0, JointParameter::kMotorGain).value = 0.07;
  mechanism.joint_parameter(0, JointParameter::kBackEmf).value = 0.05;
  return mechanism;
}

}  // namespace estimator
