#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "estimator/spook/step_forward.hpp"

namespace estimator {

/// Computes the derivatives of the impulse residual with respect to configuration, velocity and
/// next velocity, for StepResidual.
template <int kBodies, int kJoints>
class StepStateDerivatives : public StepResidualEvaluator<kBodies, kJoints> {
  using Base = StepResidualEvaluator<kBodies, kJoints>;

 public:
  using Workspace = typename Base::Workspace;
  using Base::Base;

 protected:
  using Base::body_count, Base::body_count_, Base::joint_count, Base::joints_;
  using Base::row_constants_, Base::settings_, Base::values_;

  /// Computes φ = M⁻¹ (p + Aᵀ λ), then the partial derivatives of P, C, E and s (StepWorkspace).
  void compute_partial_derivatives(Workspace& ws) const {
    ws.phi = multiply(ws.M_inv_At, ws.lambda);
    for (std::size_t i = 0; i < body_count(); ++i) {
      const BodyTerms& body = ws.bodies[i];
      const auto at = static_cast<Eigen::Index>(6 * i);
      ws.phi.template segment<3>(at) += ws.p.template segment<3>(at) / body.mass;
      ws.phi.template segment<3>(at + 3).noalias() +=
          body.inertia_inverse * ws.p.template segment<3>(at + 3);
    }
    ws.P_q.setZero();
    ws.P_v.setZero();
    ws.P_w.setZero();
    ws.E_q.setZero();
    ws.C_turn.setZero();
    ws.s_turn.setZero();
    for (std::size_t i = 0; i < body_count(); ++i) differentiate_body(ws, i);
    for (std::size_t j = 0; j < joint_count(); ++j) {
      add_axis_impulse_derivatives(ws, j);
      add_constraint_derivatives(ws, j);
    }
  }

  void differentiate_body(Workspace& ws, std::size_t i) const {
    const BodyTerms& body = ws.bodies[i];
    const auto at = static_cast<Eigen::Index>(6 * i);
    const double h = settings_.step;
    const Eigen::Matrix3d& J = body.inertia;
    const Eigen::Matrix3d omega_hat = hat(body.omega);
    const Eigen::Matrix3d gyro_hat = hat(body.omega_gyro);
    const auto inertia_rotation_derivative = [&](const Eigen::Vector3d& y) -> Eigen::Matrix3d {
      return J * hat(y) - hat(J * y);  // d(J_w y) = (…) δψ
    };
    // −h f_g = (h/2) (ω × J ω' + ω' × J ω), ω' = ω or ω⁺.
    const Eigen::Matrix3d gyro_q = 0.5 * h *
                                   (omega_hat * inertia_rotation_derivative(body.omega_gyro) +
                                    gyro_hat * inertia_rotation_derivative(body.omega));
    const Eigen::Matrix3d along_omega = 0.5 * h * (gyro_hat * J - hat(J * body.omega_gyro));
    const Eigen::Matrix3d along_partner = 0.5 * h * (omega_hat * J - hat(J * body.omega));
    const auto turn = static_cast<Eigen::Index>(3 * i);
    ws.P_q.template block<3, 3>(turn, turn) =
        inertia_rotation_derivative(ws.phi.template segment<3>(at + 3) - body.omega) + gyro_q;
    ws.E_q.template block<3, 3>(turn, turn) =
        inertia_rotation_derivative(body.omega_next - body.omega) + gyro_q;
    ws.P_v.template block<3, 3>(turn, turn) = along_omega - J;
    const bool mean = settings_.gyroscopic == GyroscopicForm::kMean;
    (mean ? ws.P_w : ws.P_v).template block<3, 3>(turn, turn) += along_partner;
  }

  /// Adds the derivatives of a joint's axis torque −Ḡᵀ T to P and E (StepWorkspace).
  void add_axis_impulse_derivatives(Workspace& ws, std::size_t j) const {
    const Joint& joint = joints_[j];
    const JointParameterValues& values = values_.joints[j];
    const JointTerms& terms = ws.joints[j];
    const double h = settings_.step;
    const Eigen::Vector3d& x = terms.geometry.x_b;
    const bool slipping = std::abs(terms.omega_next) >= joint.spook.stick_speed;
    const double T_w = -terms.damping - (slipping ? 0.0 : terms.bound / joint.spook.stick_speed);
    const double stribeck_slope = -2.0 * values.stribeck_rate * terms.omega * h *
                                  values.stribeck_torque *
                                  stribeck_decay(values.stribeck_rate, terms.omega);
    const double drag_slope =
        h * values.quadratic_drag * (terms.omega < 0.0 ? -1.0 : 1.0) * terms.omega_next;
    const double T_v = values.shaft_inertia - drag_slope - stribeck_slope * terms.sat;
    const double T_angle = -h * values.stiffness;

    const int a = joint.body_a, b = joint.body_b;
    const BodyTerms& body_b = ws.bodies[b];
    Eigen::Vector3d relative = body_b.omega, relative_next = body_b.omega_next;
    if (a != Joint::kGround) {
      relative -= ws.bodies[a].omega;
      relative_next -= ws.bodies[a].omega_next;
    }
    // dω = (δψ_b × x)·relative = (x × relative)·δψ_b.
    const Eigen::RowVector3d along_b =
        (T_w * x.cross(relative_next) + T_v * x.cross(relative)).transpose() +
        T_angle * terms.angle_turn;
    const Eigen::RowVector3d along_a = -T_angle * terms.angle_turn;
    const Eigen::Matrix3d axis_turn = -terms.torque * hat(x);  // d(x T) at fixed T
    const Eigen::Matrix3d q_b = x * along_b + axis_turn;
    const Eigen::Matrix3d q_a = x * along_a;
    const Eigen::Matrix3d outer = x * x.transpose();

    // Signs: body b receives +T, body a −T; P and E hold −T.
    const auto add = [&](int body, double sign) {
      const Eigen::Index row = 3 * body;
      for (auto* matrix : {&ws.P_q, &ws.E_q}) {
        matrix->template block<3, 3>(row, 3 * b) -= sign * q_b;
        if (a != Joint::kGround && T_angle != 0.0) {
          matrix->template block<3, 3>(row, 3 * a) -= sign * q_a;
        }
      }
      ws.P_v.template block<3, 3>(row, 3 * b) -= sign * T_v * outer;
      ws.P_w.template block<3, 3>(row, 3 * b) -= sign * T_w * outer;
      if (a != Joint::kGround) {
        ws.P_v.template block<3, 3>(row, 3 * a) += sign * T_v * outer;
        ws.P_w.template block<3, 3>(row, 3 * a) += sign * T_w * outer;
      }
    };
    add(b, 1.0);
    if (a != Joint::kGround) add(a, -1.0);
  }

  /// Adds the derivatives of a joint's terms Aᵀ λ to P, Aᵀ Λ to E, and A y to C and s
  /// (StepWorkspace).
  void add_constraint_derivatives(Workspace& ws, std::size_t j) const {
    const Joint& joint = joints_[j];
    const JointTerms& terms = ws.joints[j];
    const JointGeometry& geometry = terms.geometry;
    const auto row = static_cast<Eigen::Index>(5 * j);
    const int a = joint.body_a, b = joint.body_b;

    // d(A y) by rotations; y = φ − γ v for C, w − γ v for s.
    const auto add_row_derivatives = [&](typename Workspace::MatrixCT& out,
                                         const typename Workspace::VectorV& y_next) {
      const Eigen::Vector3d y_b = y_next.template segment<3>(6 * b + 3) -
                                  row_constants_[j].gamma * ws.v.template segment<3>(6 * b + 3);
      Eigen::Vector3d y_a = Eigen::Vector3d::Zero();
      if (a != Joint::kGround) {
        y_a = y_next.template segment<3>(6 * a + 3) -
              row_constants_[j].gamma * ws.v.template segment<3>(6 * a + 3);
      }
      const ConstraintRowDerivatives turn = constraint_row_derivatives(geometry, y_a, y_b);
      out.template block<5, 3>(row, 3 * b) = turn.b;
      if (a != Joint::kGround) out.template block<5, 3>(row, 3 * a) = turn.a;
    };
    add_row_derivatives(ws.C_turn, ws.phi);
    add_row_derivatives(ws.s_turn, ws.w);

    // −d(Aᵀ λ): torques c × λ_t + e × f on a and their opposites on b, f = λ₄ e_y + λ₅ e_z.
    const auto add_torque_derivatives = [&](typename Workspace::MatrixTT& out,
                                            const Eigen::Matrix<double, 5, 1>& multipliers) {
      const Eigen::Matrix3d lambda_hat = hat(multipliers.template head<3>());
      const Eigen::Matrix3d e_hat = hat(geometry.x_a);
      const Eigen::Matrix3d f_hat =
          hat(multipliers[3] * geometry.y_b + multipliers[4] * geometry.z_b);
      const Eigen::Matrix3d fe = f_hat * e_hat;
      const Eigen::Matrix3d ef = e_hat * f_hat;
      out.template block<3, 3>(3 * b, 3 * b) -= ef - lambda_hat * hat(geometry.c_b);
      if (a == Joint::kGround) return;
      out.template block<3, 3>(3 * a, 3 * a) -= lambda_hat * hat(geometry.c_a) + fe;
      out.template block<3, 3>(3 * a, 3 * b) += ef;
      out.template block<3, 3>(3 * b, 3 * a) += fe;
    };
    add_torque_derivatives(ws.P_q, ws.lambda.template segment<5>(row));
    add_torque_derivatives(ws.E_q, ws.big_lambda.template segment<5>(row));
  }

  /// Computes Aᵀ Σ_w⁻¹, Y = Aᵀ ρ S⁻¹ and N = Y A M⁻¹ (StepWorkspace).
  void weight_constraint_rows(Workspace& ws) const {
    const bool is_explicit = settings_.form == ResidualForm::kExplicit;
    for (std::size_t j = 0; j < joint_count(); ++j) {
      const auto row = static_cast<Eigen::Index>(5 * j);
      const auto At = ws.A.template middleRows<5>(row).transpose();
      ws.Aw_t.template middleCols<5>(row) = At * row_constants_[j].sigma_w_inv.asDiagonal();
      ws.Y_t.template middleCols<5>(row) = At * row_constants_[j].rho.asDiagonal();
    }
    if (is_explicit) {
      ws.Y_t.setZero();
      ws.N.setZero();
    } else {
      if (ws.regular) {
        ws.factor.solve_from_right(ws.Y_t);
      } else {
        ws.Y_t.setConstant(std::numeric_limits<double>::quiet_NaN());
      }
      ws.N = multiply(ws.Y_t, ws.M_inv_At.transpose());
    }
    for (std::size_t i = 0; i < body_count(); ++i) {
      const auto turn = static_cast<Eigen::Index>(3 * i);
      ws.N_turn.template middleCols<3>(turn) = ws.N.template middleCols<3>(2 * turn + 3);
    }
    for (std::size_t j = 0; j < joint_count(); ++j) {
      const auto row = static_cast<Eigen::Index>(5 * j);
      ws.gamma_t.template middleCols<5>(row) =
          row_constants_[j].gamma *
          (ws.Aw_t.template middleCols<5>(row) + ws.Y_t.template middleCols<5>(row));
    }
  }

  /// Computes the derivative of the residual, dr = E + Aᵀ Σ_w⁻¹ ds + Y dC − N dP (StepWorkspace).
  void combine_derivatives(Workspace& ws, StepDerivatives& out) const {
    using Matrix = Eigen::Map<typename Workspace::MatrixVV, Eigen::AlignedMax>;
    const Eigen::Index nv = 6 * body_count_;
    const auto shaped = [nv](Eigen::MatrixXd& matrix) {
      matrix.resize(nv, nv);
      return Matrix(matrix.data(), nv, nv);
    };
    Matrix q = shaped(out.along_configuration);
    Matrix v = shaped(out.along_velocity);
    Matrix w = shaped(out.along_next_velocity);
    weight_constraint_rows(ws);

    typename Workspace::MatrixVT turn(nv, 3 * body_count_);
    v = multiply(ws.gamma_t, ws.A);
    q = (4.0 / settings_.step) * v;
    turn = multiply(ws.Aw_t, ws.s_turn);
    turn += multiply(ws.Y_t, ws.C_turn);
    turn -= multiply(ws.N_turn, ws.P_q);
    add_rotation_columns(turn, ws.E_q, q);

    v = -v;
    turn = -multiply(ws.N_turn, ws.P_v);
    add_rotation_columns(turn, ws.P_v, v);
    w = multiply(ws.Aw_t, ws.A);
    turn = -multiply(ws.N_turn, ws.P_w);
    add_rotation_columns(turn, ws.P_w, w);
    for (std::size_t i = 0; i < body_count(); ++i) {
      const auto at = static_cast<Eigen::Index>(6 * i);
      const double mass = ws.bodies[i].mass;
      v.template middleCols<3>(at) += mass * ws.N.template middleCols<3>(at);
      v.template block<3, 3>(at, at).diagonal().array() -= mass;
      w.template block<3, 3>(at, at).diagonal().array() += mass;
      w.template block<3, 3>(at + 3, at + 3) += ws.bodies[i].inertia;
    }
  }

  /// Adds two blocks to the derivatives with respect to rotations: `all` to all rows, and
  /// `rotational` to the rows of the rotational residual only.
  template <typename Out>
  void add_rotation_columns(const typename Workspace::MatrixVT& all,
                            const typename Workspace::MatrixTT& rotational, Out& out) const {
    for (std::size_t i = 0; i < body_count(); ++i) {
      const auto column = static_cast<Eigen::Index>(3 * i);
      out.template middleCols<3>(2 * column + 3) += all.template middleCols<3>(column);
      for (std::size_t k = 0; k < body_count(); ++k) {
        const auto row = static_cast<Eigen::Index>(3 * k);
        out.template block<3, 3>(2 * row + 3, 2 * column + 3) +=
            rotational.template block<3, 3>(row, column);
      }
    }
  }
};

}  // namespace estimator
