#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/spook/step_kernel.hpp"

namespace estimator {

/// Computes the impulse residual of one time step, without derivatives, for StepResidual. Sizes are
/// template arguments, so that common mechanisms use unrolled fixed-size algebra.
template <int kBodies, int kJoints>
class StepResidualEvaluator {
 public:
  using Workspace = StepWorkspace<kBodies, kJoints>;

  StepResidualEvaluator(const Mechanism& mechanism, const StepSettings& settings)
      : joints_(mechanism.joints),
        values_(unpack_parameters(mechanism)),
        settings_(settings),
        body_count_(mechanism.body_count()),
        joint_count_(mechanism.joint_count()) {
    int motor = 0;
    for (const Joint& joint : joints_) motor_.push_back(joint.motor.present ? motor++ : -1);
    compute_constraint_row_constants(mechanism);
  }

 protected:
  /// Returns this thread's workspace, sized for this mechanism.
  Workspace& workspace() const {
    static thread_local Workspace storage;
    storage.resize(body_count_, joint_count_);
    return storage;
  }

  std::size_t body_count() const {
    return static_cast<std::size_t>(kBodies == Eigen::Dynamic ? body_count_ : kBodies);
  }
  std::size_t joint_count() const {
    return static_cast<std::size_t>(kJoints == Eigen::Dynamic ? joint_count_ : kJoints);
  }

  /// Computes γ, Σ, Σ_w⁻¹ and ρ of every constraint row, which are constant
  /// (ConstraintRowConstants).
  void compute_constraint_row_constants(const Mechanism& mechanism) {
    const std::vector<Eigen::Vector2d> weights = constrained_inertias(mechanism, values_);
    for (std::size_t j = 0; j < joints_.size(); ++j) {
      const ConstraintRelaxation relaxation =
          compute_constraint_relaxation(joints_[j], settings_.step);
      ConstraintRowConstants scales;
      scales.gamma = relaxation.gamma;
      scales.sigma = relaxation.sigma;
      for (int row = 0; row < 5; ++row) {
        if (settings_.form == ResidualForm::kExplicit) {
          scales.sigma_w_inv[row] = 1.0 / scales.sigma[row];
          scales.rho[row] = 0.0;
          continue;
        }
        scales.sigma_w_inv[row] =
            settings_.weighting_compliance > 0.0
                ? 1.0 / (relaxation.per_compliance * settings_.weighting_compliance)
                : kRelativeWeight * weights[j][row < 3 ? 0 : 1];
        scales.rho[row] = 1.0 - scales.sigma_w_inv[row] * scales.sigma[row];
      }
      row_constants_.push_back(scales);
    }
  }

  bool has_load_friction() const {
    return std::ranges::any_of(values_.joints, [](const JointParameterValues& joint) {
      return estimator::has_load_friction(joint);
    });
  }

  void compute_workspace(const StepInput& input, Workspace& ws) const {
    compute_body_terms(input, ws);
    update_joint_data(input, ws);
    assemble_constraint_rows(ws);
    assemble_system(ws);
    for (std::size_t j = 0; j < joint_count(); ++j)
      ws.joints[j].torque = compute_axis_impulse(input, ws, j);
    solve_multipliers(ws);
    if (has_load_friction()) iterate_load_friction(ws);
    compute_residual(ws);
  }

  void compute_body_terms(const StepInput& input, Workspace& ws) const {
    ws.v = Eigen::Map<const typename Workspace::VectorV>(input.velocity, 6 * body_count_);
    ws.w = Eigen::Map<const typename Workspace::VectorV>(input.next_velocity, 6 * body_count_);
    for (std::size_t i = 0; i < body_count(); ++i) {
      BodyTerms& body = ws.bodies[i];
      const auto at = static_cast<Eigen::Index>(6 * i);
      body.r = input.poses[i].r;
      body.R = input.poses[i].e.toRotationMatrix();
      body.mass = values_.bodies[i].mass;
      const Eigen::Matrix3d R_J = body.R * values_.bodies[i].inertia;
      body.inertia.noalias() = R_J * body.R.transpose();
      body.inertia_inverse = body.inertia.inverse();
      body.v = ws.v.template segment<3>(at);
      body.omega = ws.v.template segment<3>(at + 3);
      body.v_next = ws.w.template segment<3>(at);
      body.omega_next = ws.w.template segment<3>(at + 3);
      body.omega_gyro =
          settings_.gyroscopic == GyroscopicForm::kMean ? body.omega_next : body.omega;
    }
  }

  void update_joint_data(const StepInput& input, Workspace& ws) const {
    static const Pose kGround;
    for (std::size_t j = 0; j < joint_count(); ++j) {
      const Joint& joint = joints_[j];
      JointTerms& terms = ws.joints[j];
      const BodyTerms& b = ws.bodies[joint.body_b];
      Eigen::Vector3d omega_a = Eigen::Vector3d::Zero(), omega_a_next = Eigen::Vector3d::Zero();
      if (joint.body_a == Joint::kGround) {
        terms.geometry = make_joint_geometry(joint, values_.joints[j], Eigen::Vector3d::Zero(),
                                             Eigen::Matrix3d::Identity(), b.r, b.R);
      } else {
        const BodyTerms& a = ws.bodies[joint.body_a];
        terms.geometry = make_joint_geometry(joint, values_.joints[j], a.r, a.R, b.r, b.R);
        omega_a = a.omega;
        omega_a_next = a.omega_next;
      }
      terms.omega = terms.geometry.x_b.dot(b.omega - omega_a);
      terms.omega_next = terms.geometry.x_b.dot(b.omega_next - omega_a_next);
      terms.angle = 0.0;
      terms.angle_turn.setZero();
      if (values_.joints[j].stiffness != 0.0) {
        const JointAngleJacobian jacobian = joint_angle_jacobian(joint, input.poses);
        terms.angle = jacobian.angle;
        terms.angle_turn = jacobian.b;
      }
    }
  }

  void assemble_constraint_rows(Workspace& ws) const {
    const double per_step = 4.0 / settings_.step;
    for (std::size_t j = 0; j < joint_count(); ++j) {
      const Joint& joint = joints_[j];
      const JointTerms& terms = ws.joints[j];
      const auto row = static_cast<Eigen::Index>(5 * j);
      Eigen::Matrix<double, 5, 1> Av, Aw;
      ws.A.template middleRows<5>(row).setZero();  // may contain rows of other joints
      ws.A.template block<5, 6>(row, 6 * joint.body_b) = constraint_rows(terms.geometry, true);
      Av.noalias() = ws.A.template block<5, 6>(row, 6 * joint.body_b) *
                     ws.v.template segment<6>(6 * joint.body_b);
      Aw.noalias() = ws.A.template block<5, 6>(row, 6 * joint.body_b) *
                     ws.w.template segment<6>(6 * joint.body_b);
      if (joint.body_a != Joint::kGround) {
        ws.A.template block<5, 6>(row, 6 * joint.body_a) = constraint_rows(terms.geometry, false);
        Av.noalias() += ws.A.template block<5, 6>(row, 6 * joint.body_a) *
                        ws.v.template segment<6>(6 * joint.body_a);
        Aw.noalias() += ws.A.template block<5, 6>(row, 6 * joint.body_a) *
                        ws.w.template segment<6>(6 * joint.body_a);
      }
      ws.c.template segment<5>(row) = row_constants_[j].gamma * (Av - per_step * terms.geometry.g);
      ws.s.template segment<5>(row) = Aw - ws.c.template segment<5>(row);
    }
  }

  /// Computes M⁻¹ Aᵀ and the factor of S = A M⁻¹ Aᵀ + Σ, with the mass matrix M and constraint rows
  /// A.
  void assemble_system(Workspace& ws) const {
    for (std::size_t j = 0; j < joint_count(); ++j) {
      const auto row = static_cast<Eigen::Index>(5 * j);
      ws.M_inv_At.template middleCols<5>(row).setZero();
      for (const int body : {joints_[j].body_a, joints_[j].body_b}) {
        if (body == Joint::kGround) continue;
        const BodyTerms& terms = ws.bodies[body];
        auto block = ws.M_inv_At.template block<6, 5>(6 * body, row);
        const auto rows = ws.A.template block<5, 6>(row, 6 * body);
        block.template topRows<3>() = rows.template leftCols<3>().transpose() / terms.mass;
        block.template bottomRows<3>().noalias() =
            terms.inertia_inverse * rows.template rightCols<3>().transpose();
      }
    }
    ws.S = multiply(ws.A, ws.M_inv_At);
    for (std::size_t j = 0; j < joint_count(); ++j) {
      ws.S.diagonal().template segment<5>(static_cast<Eigen::Index>(5 * j)) +=
          row_constants_[j].sigma;
    }
    ws.regular = ws.factor.factorize(ws.S);
  }

  /// Returns a joint's axis impulse without the load-dependent part of the dry friction.
  double compute_axis_impulse(const StepInput& input, Workspace& ws, std::size_t j) const {
    const JointParameterValues& values = values_.joints[j];
    JointTerms& terms = ws.joints[j];
    const double h = settings_.step;
    const double control = motor_[j] < 0 ? 0.0 : input.control[motor_[j]];
    terms.damping = axis_damping(values, terms.omega, h);
    terms.sat = dry_friction_saturation(terms.omega_next, joints_[j].spook.stick_speed);
    terms.bound = dry_friction_impulse_bound(values, terms.omega, h);
    return axis_impulse(values, terms.omega, terms.angle, control, h) -
           terms.damping * terms.omega_next - terms.bound * terms.sat;
  }

  /// Computes the momentum p and the multipliers λ from the current axis impulses.
  void solve_multipliers(Workspace& ws) const {
    const double h = settings_.step;
    for (std::size_t i = 0; i < body_count(); ++i) {
      const BodyTerms& body = ws.bodies[i];
      const auto at = static_cast<Eigen::Index>(6 * i);
      ws.p.template segment<3>(at) = body.mass * (body.v + h * values_.gravity);
      const Eigen::Vector3d momentum = body.inertia * body.omega;
      const Eigen::Vector3d partner = body.inertia * body.omega_gyro;
      ws.p.template segment<3>(at + 3) =
          momentum - 0.5 * h * (body.omega.cross(partner) + body.omega_gyro.cross(momentum));
    }
    for (std::size_t j = 0; j < joint_count(); ++j) {
      const Eigen::Vector3d impulse = ws.joints[j].torque * ws.joints[j].geometry.x_b;
      ws.p.template segment<3>(6 * joints_[j].body_b + 3) += impulse;
      if (joints_[j].body_a != Joint::kGround) {
        ws.p.template segment<3>(6 * joints_[j].body_a + 3) -= impulse;
      }
    }
    ws.lambda = ws.c - multiply(ws.M_inv_At.transpose(), ws.p);
    if (ws.regular) {
      ws.factor.solve_in_place(ws.lambda);
    } else {
      ws.lambda.setConstant(std::numeric_limits<double>::quiet_NaN());
    }
  }

  /// Returns the constraint multipliers that determine the load-dependent friction of a joint. The
  /// explicit form computes them from the velocities; the implicit form predicts them.
  Eigen::Matrix<double, 5, 1> bearing_multipliers(const Workspace& ws, std::size_t j) const {
    const auto row = static_cast<Eigen::Index>(5 * j);
    if (settings_.form == ResidualForm::kImplicit) return ws.lambda.template segment<5>(row);
    return -row_constants_[j].sigma_w_inv.cwiseProduct(ws.s.template segment<5>(row));
  }

  /// Iterates load-dependent friction, which changes the multipliers on which it depends.
  void iterate_load_friction(Workspace& ws) const {
    for (int round = 0; round < kMaxLoadIterations; ++round) {
      double change = 0.0, size = 0.0;
      for (std::size_t j = 0; j < joint_count(); ++j) {
        JointTerms& terms = ws.joints[j];
        const double bound =
            dry_friction_impulse_bound(values_.joints[j], terms.omega, settings_.step) +
            load_friction_bound(values_.joints[j], terms.geometry, bearing_multipliers(ws, j));
        change = std::max(change, std::abs(bound - terms.bound));
        size = std::max(size, std::abs(bound));
        terms.torque -= (bound - terms.bound) * terms.sat;
        terms.bound = bound;
      }
      solve_multipliers(ws);
      if (!(change > kLoadTolerance * size)) return;
    }
  }

  void compute_residual(Workspace& ws) const {
    for (std::size_t j = 0; j < joint_count(); ++j) {
      const auto row = static_cast<Eigen::Index>(5 * j);
      ws.big_lambda.template segment<5>(row) =
          row_constants_[j].rho.cwiseProduct(ws.lambda.template segment<5>(row)) -
          row_constants_[j].sigma_w_inv.cwiseProduct(ws.s.template segment<5>(row));
    }
    ws.residual = -ws.p - multiply(ws.A.transpose(), ws.big_lambda);
    for (std::size_t i = 0; i < body_count(); ++i) {
      const BodyTerms& body = ws.bodies[i];
      const auto at = static_cast<Eigen::Index>(6 * i);
      ws.residual.template segment<3>(at) += body.mass * body.v_next;
      ws.residual.template segment<3>(at + 3).noalias() += body.inertia * body.omega_next;
    }
  }

  std::vector<Joint> joints_;
  ModelParameterValues values_;
  StepSettings settings_;
  int body_count_;
  int joint_count_;
  std::vector<int> motor_;  ///< control column of each joint, −1 without motor
  std::vector<ConstraintRowConstants> row_constants_;
};

}  // namespace estimator
