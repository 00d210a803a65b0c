#pragma once

#include <Eigen/LU>
#include <cstddef>
#include <vector>

#include "estimator/model/moments.hpp"
#include "estimator/spook/step_state_derivatives.hpp"

namespace estimator {

/// A free parameter, with the index of its column in the matrix of derivatives.
struct FreeParameterColumn {
  ParameterOwner target;
  int column;
  std::vector<Eigen::Index> rows;  ///< first row of each dependent group of three rows of P
};

/// Computes the step residual with its derivatives. StepResidual documents the formulas.
template <int kBodies, int kJoints>
class StepResidualKernel final : public StepResidual,
                                 private StepStateDerivatives<kBodies, kJoints> {
  using Base = StepStateDerivatives<kBodies, kJoints>;

 public:
  using Workspace = typename Base::Workspace;

  StepResidualKernel(const Mechanism& mechanism, const StepSettings& settings,
                     const std::vector<int>& free_parameters)
      : Base(mechanism, settings) {
    for (std::size_t i = 0; i < free_parameters.size(); ++i) {
      const ParameterOwner target = find_parameter_owner(mechanism, free_parameters[i]);
      columns_.push_back({target, static_cast<int>(i), dependent_balance_rows(target)});
      points_free_ |= is_joint_point_coordinate(target);
      load_friction_free_ |=
          target.kind == ParameterOwner::Kind::kJoint &&
          (target.quantity == static_cast<int>(JointParameter::kLoadFriction) ||
           target.quantity == static_cast<int>(JointParameter::kLoadFrictionAngular));
    }
  }

  void set_parameter_values(const ModelParameterValues& values) override { values_ = values; }

  void evaluate(const StepInput& input, double* residual) const override {
    Workspace& ws = workspace();
    compute_workspace(input, ws);
    Eigen::Map<typename Workspace::VectorV>(residual, 6 * body_count_) = ws.residual;
  }

  void linearize(const StepInput& input, StepDerivatives& out) const override {
    Workspace& ws = workspace();
    compute_workspace(input, ws);
    out.residual = ws.residual;
    compute_partial_derivatives(ws);
    combine_derivatives(ws, out);
    differentiate_parameters(input, ws, out);
    if (has_load_friction() || load_friction_free_) add_load_friction_derivatives(ws, out);
  }

 private:
  using Base::bearing_multipliers, Base::compute_workspace, Base::workspace;
  using Base::body_count, Base::body_count_, Base::joint_count_, Base::joint_count, Base::joints_;
  using Base::combine_derivatives, Base::compute_partial_derivatives;
  using Base::has_load_friction;
  using Base::motor_, Base::row_constants_, Base::settings_, Base::values_;

  // --- derivatives by parameters ----------------------------------------------------------------

  /// Returns the first row of each group of three rows of the momentum balance P that depends on a
  /// parameter.
  std::vector<Eigen::Index> dependent_balance_rows(const ParameterOwner& target) const {
    std::vector<Eigen::Index> rows;
    if (target.kind == ParameterOwner::Kind::kBody) {
      const bool is_mass = target.quantity == static_cast<int>(BodyParameter::kMass);
      rows.push_back(6 * target.element + (is_mass ? 0 : 3));
    } else if (target.kind == ParameterOwner::Kind::kWorld) {
      for (int i = 0; i < body_count_; ++i) rows.push_back(6 * i);
    } else if (target.kind == ParameterOwner::Kind::kJoint) {
      rows.push_back(6 * joints_[target.element].body_b + 3);
      if (joints_[target.element].body_a != Joint::kGround)
        rows.push_back(6 * joints_[target.element].body_a + 3);
    }
    return rows;
  }

  /// Computes the partial derivatives with respect to every free parameter and combines them as
  /// `combine_derivatives` does.
  void differentiate_parameters(const StepInput& input, Workspace& ws, StepDerivatives& out) const {
    const auto count = static_cast<Eigen::Index>(columns_.size());
    for (auto* matrix : {&ws.E_p, &ws.P_p}) matrix->setZero(6 * body_count_, count);
    if (points_free_ || has_load_friction() || load_friction_free_) {
      for (auto* matrix : {&ws.s_p, &ws.C_p}) matrix->setZero(5 * joint_count_, count);
    }
    out.along_parameters.resize(6 * body_count_, count);
    for (const FreeParameterColumn& column : columns_) {
      const ParameterOwner& target = column.target;
      if (target.kind == ParameterOwner::Kind::kBody) {
        differentiate_body_parameter(ws, column);
      } else if (target.kind == ParameterOwner::Kind::kWorld) {
        differentiate_gravity_parameter(ws, column);
      } else if (is_joint_point_coordinate(target)) {
        differentiate_joint_point(ws, column);
      } else if (target.kind == ParameterOwner::Kind::kJoint) {
        differentiate_axis_parameter(input, ws, column);
      }
      typename Workspace::VectorV total = ws.E_p.col(column.column);
      for (const Eigen::Index row : column.rows) {
        total -= multiply(ws.N.template middleCols<3>(row),
                          ws.P_p.col(column.column).template segment<3>(row));
      }
      out.along_parameters.col(column.column) = total;
    }
    if (!points_free_) return;
    out.along_parameters += multiply(ws.Y_t, ws.C_p);
    for (std::size_t j = 0; j < joint_count(); ++j) {
      const auto row = static_cast<Eigen::Index>(5 * j);
      out.along_parameters.noalias() += ws.A.template middleRows<5>(row).transpose() *
                                        row_constants_[j].sigma_w_inv.asDiagonal() *
                                        ws.s_p.template middleRows<5>(row);
    }
  }

  void differentiate_body_parameter(Workspace& ws, const FreeParameterColumn& column) const {
    const BodyTerms& body = ws.bodies[column.target.element];
    const Eigen::Index at = 6 * column.target.element;
    const double h = settings_.step;
    auto E = ws.E_p.col(column.column);
    auto P = ws.P_p.col(column.column);
    if (column.target.quantity == static_cast<int>(BodyParameter::kMass)) {
      const Eigen::Vector3d before = body.v + h * values_.gravity;
      E.template segment<3>(at) = body.v_next - before;
      P.template segment<3>(at) = ws.phi.template segment<3>(at) - before;
      return;
    }
    const int moment = column.target.quantity - static_cast<int>(BodyParameter::kJxx);
    const Eigen::Matrix3d dJ = body.R * inertia_matrix(Moments::Unit(moment)) * body.R.transpose();
    const Eigen::Vector3d dL = dJ * body.omega;
    const Eigen::Vector3d before =
        dL - 0.5 * h * (body.omega.cross(dJ * body.omega_gyro) + body.omega_gyro.cross(dL));
    E.template segment<3>(at + 3) = dJ * body.omega_next - before;
    P.template segment<3>(at + 3) = dJ * ws.phi.template segment<3>(at + 3) - before;
  }

  void differentiate_gravity_parameter(Workspace& ws, const FreeParameterColumn& column) const {
    for (std::size_t i = 0; i < body_count(); ++i) {
      const auto at = static_cast<Eigen::Index>(6 * i);
      ws.E_p.col(column.column).template segment<3>(at) =
          -settings_.step * ws.bodies[i].mass *
          values_.gravity_jacobian.col(column.target.quantity);
    }
    ws.P_p.col(column.column) = ws.E_p.col(column.column);
  }

  /// Computes the derivative with respect to a joint point on one body: its lever arm c = R p
  /// changes by R e_i.
  void differentiate_joint_point(Workspace& ws, const FreeParameterColumn& column) const {
    const ParameterOwner& target = column.target;
    const Joint& joint = joints_[target.element];
    const bool on_b = target.quantity >= static_cast<int>(JointParameter::kPointBx);
    const int body = on_b ? joint.body_b : joint.body_a;
    const double sign = on_b ? -1.0 : 1.0;
    const auto row = static_cast<Eigen::Index>(5 * target.element);
    const Eigen::Vector3d unit = Eigen::Vector3d::Unit(target.quantity % 3);
    const double g_scale = 4.0 * row_constants_[target.element].gamma / settings_.step;
    auto s = ws.s_p.col(column.column).template segment<3>(row);
    auto C = ws.C_p.col(column.column).template segment<3>(row);
    if (body == Joint::kGround) {
      s = sign * g_scale * unit;
      C = s;
      return;
    }
    const Eigen::Vector3d dc = ws.bodies[body].R * unit;
    const Eigen::Index at = 6 * body + 3;
    const Eigen::Vector3d before =
        row_constants_[target.element].gamma * ws.v.template segment<3>(at);
    const auto rate = [&](const Eigen::Vector3d& omega) -> Eigen::Vector3d {
      return sign * ((omega - before).cross(dc) + g_scale * dc);
    };
    s = rate(ws.w.template segment<3>(at));
    C = rate(ws.phi.template segment<3>(at));
    ws.E_p.col(column.column).template segment<3>(at) =
        -sign * dc.cross(ws.big_lambda.template segment<3>(row));
    ws.P_p.col(column.column).template segment<3>(at) =
        -sign * dc.cross(ws.lambda.template segment<3>(row));
  }

  void differentiate_axis_parameter(const StepInput& input, Workspace& ws,
                                    const FreeParameterColumn& column) const {
    const auto j = static_cast<std::size_t>(column.target.element);
    const auto quantity = static_cast<JointParameter>(column.target.quantity);
    const bool driven = motor_[j] >= 0;
    const AxisInputs drive = {.angle = quantity == JointParameter::kStiffness
                                           ? joint_angle_jacobian(joints_[j], input.poses).angle
                                           : 0.0,
                              .control = driven ? input.control[motor_[j]] : 0.0,
                              .control_delay_slope = driven && input.control_delay_slope
                                                         ? input.control_delay_slope[motor_[j]]
                                                         : 0.0};
    const double dT = axis_impulse_derivative(quantity, values_.joints[j], ws.joints[j], drive,
                                              bearing_multipliers(ws, j), settings_.step);
    const Eigen::Vector3d impulse = dT * ws.joints[j].geometry.x_b;
    auto E = ws.E_p.col(column.column);
    E.template segment<3>(6 * joints_[j].body_b + 3) -= impulse;
    if (joints_[j].body_a != Joint::kGround) {
      E.template segment<3>(6 * joints_[j].body_a + 3) += impulse;
    }
    ws.P_p.col(column.column) = E;
  }

  // --- load-dependent friction ------------------------------------------------------------------

  /// Adds the derivatives through the load-dependent friction bound B. L = ∂B/∂λ and K = ∂λ/∂B with
  /// the multipliers λ. With dλ at fixed bound, dB solves (I − L K) dB = L dλ + frame terms. Then
  /// dr += (I − N) Ḡᵀ sat dB.
  void add_load_friction_derivatives(const Workspace& ws, StepDerivatives& out) const {
    const Eigen::Index nv = 6 * body_count_, nc = 5 * joint_count_, nh = joint_count_;
    Eigen::MatrixXd L = Eigen::MatrixXd::Zero(nh, nc);      // ∂bound/∂λ
    Eigen::MatrixXd d_q = Eigen::MatrixXd::Zero(nh, nv);    // ∂bound/∂q
    Eigen::MatrixXd G_sat = Eigen::MatrixXd::Zero(nv, nh);  // Ḡᵀ sat
    Eigen::MatrixXd gamma_A = ws.A;
    for (Eigen::Index j = 0; j < nh; ++j) {
      const auto ju = static_cast<std::size_t>(j);
      const JointTerms& terms = ws.joints[ju];
      const LoadFrictionGradient gradient =
          load_friction_gradient(values_.joints[ju], terms.geometry, bearing_multipliers(ws, ju));
      L.block<1, 5>(j, 5 * j) = gradient.along_multipliers.transpose();
      d_q.block<1, 3>(j, 6 * joints_[ju].body_b + 3) = gradient.along_turn.transpose();
      G_sat.block<3, 1>(6 * joints_[ju].body_b + 3, j) = terms.sat * terms.geometry.x_b;
      if (joints_[ju].body_a != Joint::kGround) {
        G_sat.block<3, 1>(6 * joints_[ju].body_a + 3, j) = -terms.sat * terms.geometry.x_b;
      }
      gamma_A.middleRows<5>(5 * j) *= row_constants_[ju].gamma;
    }
    const Eigen::MatrixXd rate_A = (4.0 / settings_.step) * gamma_A;  // of C and s by q
    Eigen::MatrixXd d_v, d_w, d_p;
    if (settings_.form == ResidualForm::kExplicit) {
      for (Eigen::Index j = 0; j < nh; ++j) {
        for (int row = 0; row < 5; ++row) {
          L.col(5 * j + row) *= -row_constants_[j].sigma_w_inv[row];
        }
      }
      d_q += L * (rate_A + expand_rotation_columns(ws.s_turn));
      d_v = -L * gamma_A;
      d_w = L * ws.A;
      d_p = L * ws.s_p;
    } else {
      Eigen::Matrix<double, Eigen::Dynamic, Workspace::kC> L_S = L;
      if (ws.regular) ws.factor.solve_from_right(L_S);
      const Eigen::MatrixXd L_S_B = L_S * ws.M_inv_At.transpose();
      const Eigen::PartialPivLU<Eigen::MatrixXd> solver(Eigen::MatrixXd::Identity(nh, nh) -
                                                        L_S_B * G_sat);
      const Eigen::MatrixXd L_S_B_turn = select_rotation_columns(L_S_B);
      d_q = solver.solve(Eigen::MatrixXd(
          d_q + expand_rotation_columns(L_S_B_turn * ws.P_q - L_S * ws.C_turn) - L_S * rate_A));
      d_v = expand_rotation_columns(L_S_B_turn * ws.P_v) + L_S * gamma_A;
      for (std::size_t i = 0; i < body_count(); ++i) {
        const auto at = static_cast<Eigen::Index>(6 * i);
        d_v.middleCols<3>(at) -= ws.bodies[i].mass * L_S_B.middleCols<3>(at);
      }
      d_v = solver.solve(d_v).eval();
      d_w = solver.solve(expand_rotation_columns(L_S_B_turn * ws.P_w));
      if (!columns_.empty()) d_p = solver.solve(Eigen::MatrixXd(L_S_B * ws.P_p - L_S * ws.C_p));
    }
    const Eigen::MatrixXd through = G_sat - ws.N * G_sat;
    out.along_configuration += through * d_q;
    out.along_velocity += through * d_v;
    out.along_next_velocity += through * d_w;
    if (!columns_.empty()) out.along_parameters += through * d_p;
  }

  /// Returns derivatives with respect to positions and rotations, 6 columns per body, from
  /// derivatives with respect to rotations, 3 columns per body. The columns for positions are zero.
  Eigen::MatrixXd expand_rotation_columns(const Eigen::MatrixXd& columns) const {
    Eigen::MatrixXd all = Eigen::MatrixXd::Zero(columns.rows(), 6 * body_count_);
    for (Eigen::Index i = 0; i < body_count_; ++i) {
      all.middleCols<3>(6 * i + 3) = columns.middleCols<3>(3 * i);
    }
    return all;
  }
  /// Returns the derivatives with respect to rotations, 3 of the 6 columns of each body.
  Eigen::MatrixXd select_rotation_columns(const Eigen::MatrixXd& all) const {
    Eigen::MatrixXd columns(all.rows(), 3 * body_count_);
    for (Eigen::Index i = 0; i < body_count_; ++i) {
      columns.middleCols<3>(3 * i) = all.middleCols<3>(6 * i + 3);
    }
    return columns;
  }

  std::vector<FreeParameterColumn> columns_;
  bool points_free_ = false;
  bool load_friction_free_ = false;
};

}  // namespace estimator
