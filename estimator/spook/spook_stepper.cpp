#include "estimator/spook/spook_stepper.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <cassert>
#include <cmath>

#include "estimator/spook/joint_terms.hpp"
#include "estimator/spook/step_kernel.hpp"

namespace estimator {
namespace {

using JointRows = JointBlockCholesky::Rows;

// The mean gyroscopic torque needs a fixed-point iteration, contracting by about h ω per round.
constexpr int kMaxGyroscopicIterations = 60;
constexpr double kGyroscopicTolerance = 1e-10;  // of the fastest body

const Pose kGroundPose;

bool has_dry_friction(const JointParameterValues& values) {
  return values.coulomb_torque != 0.0 || values.stribeck_torque != 0.0 || has_load_friction(values);
}

bool has_damping(const JointParameterValues& values) {
  return values.viscous != 0.0 || values.quadratic_drag != 0.0 || values.shaft_inertia != 0.0 ||
         values.motor_gain * values.back_emf != 0.0;
}

// Constraint rows times velocity of one body: sign·[I, −[c]×; 0, nᵀ] (v, ω), Wᵀ the angular part.
JointRows rows_times(double sign, const Eigen::Matrix<double, 3, 5>& W, const Eigen::Vector3d& v,
                     const Eigen::Vector3d& omega) {
  JointRows product = W.transpose() * omega;
  product.head<3>() += sign * v;
  return product;
}

}  // namespace

SpookStepper::SpookStepper(const Mechanism& mechanism, double step, GyroscopicForm gyroscopic)
    : mechanism_(mechanism),
      values_(unpack_parameters(mechanism)),
      h_(step),
      gyroscopic_(gyroscopic) {
  assert(step > 0.0);
  prepare_topology();
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    bodies_[i].inverse_mass = 1.0 / values_.bodies[i].mass;
    bodies_[i].inverse_inertia_body = values_.bodies[i].inertia.inverse();
  }
  const auto axis_count = static_cast<Eigen::Index>(axes_.size());
  const auto joint_count = static_cast<Eigen::Index>(joints_.size());
  factor_ = JointBlockCholesky(first_block_);
  for (auto* rows : {&c_, &reduced_, &lambda_, &lambda_base_})
    rows->assign(joints_.size(), JointRows::Zero());
  for (auto* columns : {&z_, &load_}) {
    columns->assign(axes_.size(), std::vector<JointRows>(joints_.size(), JointRows::Zero()));
  }
  for (auto* matrix : {&N_, &N_damped_}) matrix->setZero(axis_count, axis_count);
  for (auto* vector : {&r_, &r_damped_, &axis_bound_, &axis_stick_speed_, &axis_lambda_}) {
    vector->setZero(axis_count);
  }
  for (auto* vector : {&friction_, &bound_}) vector->setZero(joint_count);
  for (Eigen::Index a = 0; a < axis_count; ++a) {
    axis_stick_speed_[a] = mechanism_.joints[axes_[a]].spook.stick_speed;
  }
  friction_solver_ = JointFrictionSolver(static_cast<int>(axis_count));
}

void SpookStepper::prepare_topology() {
  bodies_.resize(mechanism_.bodies.size());
  joints_.resize(mechanism_.joints.size());
  first_block_.resize(joints_.size());
  int motor = 0;
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const Joint& joint = mechanism_.joints[j];
    JointStepData& work = joints_[j];
    const ConstraintRelaxation relaxation = compute_constraint_relaxation(joint, h_);
    work.gamma = relaxation.gamma;
    work.sigma = relaxation.sigma;
    work.control = joint.motor.present ? motor++ : -1;
    work.first_end = static_cast<int>(ends_.size());
    for (const auto& [body, sign] : {std::pair{joint.body_a, 1.0}, std::pair{joint.body_b, -1.0}}) {
      if (body == Joint::kGround) continue;
      JointEnd& end = ends_.emplace_back();
      end.body = body;
      end.sign = sign;
    }
    work.end_count = static_cast<int>(ends_.size()) - work.first_end;
    const JointParameterValues& values = values_.joints[j];
    work.coupled = has_damping(values) || has_dry_friction(values);
    if (work.coupled) axes_.push_back(static_cast<int>(j));
    dry_ = dry_ || has_dry_friction(values);
    load_dependent_ = load_dependent_ || has_load_friction(values);

    first_block_[j] = static_cast<int>(j);
    for (std::size_t k = 0; k <= j; ++k)
      add_joint_end_pairs(static_cast<int>(j), static_cast<int>(k));
  }
}

void SpookStepper::add_joint_end_pairs(int row, int column) {
  const JointStepData& a = joints_[row];
  const JointStepData& b = joints_[column];
  for (int i = a.first_end; i < a.first_end + a.end_count; ++i) {
    for (int k = b.first_end; k < b.first_end + b.end_count; ++k) {
      if (ends_[i].body != ends_[k].body) {
        continue;
      }
      couplings_.push_back({row, column, i, k});
      int& first = first_block_[row];
      first = std::min(first, column);
    }
  }
}

StepOutcome SpookStepper::step(State& state, const Eigen::Ref<const Eigen::VectorXd>& control) {
  assert(state.poses.size() == bodies_.size());
  compute_body_terms(state);
  update_joint_data(state, control);
  assemble_constraint_blocks();
  if (!factor_.factorise()) return StepOutcome::kSingular;
  assemble_axis_system();
  if (gyroscopic_ == GyroscopicForm::kOld) {
    const StepOutcome outcome = solve_velocities();
    if (outcome == StepOutcome::kOk) advance_state(state);
    return outcome;
  }
  for (int round = 0; round < kMaxGyroscopicIterations; ++round) {
    const StepOutcome outcome = solve_velocities();
    if (outcome != StepOutcome::kOk) return outcome;
    if (update_gyroscopic_velocities() <= kGyroscopicTolerance) {
      advance_state(state);
      return StepOutcome::kOk;
    }
  }
  return StepOutcome::kGyroscopicNotConverged;
}

// Velocities and multipliers for the current ω' of the gyroscopic torque.
StepOutcome SpookStepper::solve_velocities() {
  apply_known_impulses();
  reduce_right_hand_side();
  if (!eliminate_damping()) return StepOutcome::kSingular;
  if (dry_ && !solve_dry_friction()) return StepOutcome::kFrictionNotConverged;
  compute_final_velocities();
  return StepOutcome::kOk;
}

// Sets ω' = ω⁺ in the gyroscopic torque; returns its relative change.
double SpookStepper::update_gyroscopic_velocities() {
  double change = 0.0, size = 0.0;
  for (BodyStepData& body : bodies_) {
    change = std::max(change, (body.omega - body.omega_partner).cwiseAbs().maxCoeff());
    size = std::max(size, body.omega.cwiseAbs().maxCoeff());
    body.omega_partner = body.omega;
  }
  return size > 0.0 ? change / size : 0.0;
}

void SpookStepper::compute_body_terms(const State& state) {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    BodyStepData& body = bodies_[i];
    const auto at = static_cast<Eigen::Index>(6 * i);
    body.R = state.poses[i].e.toRotationMatrix();
    body.inverse_inertia.noalias() = body.R * body.inverse_inertia_body * body.R.transpose();
    body.v_old = state.velocity.segment<3>(at);
    body.omega_old = state.velocity.segment<3>(at + 3);
    body.omega_partner = body.omega_old;
    body.momentum_old.noalias() =
        body.R * (values_.bodies[i].inertia * (body.R.transpose() * body.omega_old));
  }
}

void SpookStepper::update_joint_data(const State& state,
                                     const Eigen::Ref<const Eigen::VectorXd>& control) {
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const Joint& joint = mechanism_.joints[j];
    JointStepData& work = joints_[j];
    const JointParameterValues& values = values_.joints[j];
    const bool ground = joint.body_a == Joint::kGround;
    const Pose& a = ground ? kGroundPose : state.poses[joint.body_a];
    const Pose& b = state.poses[joint.body_b];
    const Eigen::Matrix3d R_a =
        ground ? Eigen::Matrix3d::Identity().eval() : bodies_[joint.body_a].R;
    work.geometry = make_joint_geometry(joint, values, a.r, R_a, b.r, bodies_[joint.body_b].R);
    update_joint_ends(state, work);
    const double angle = values.stiffness == 0.0 ? 0.0 : joint_angle(joint, a, b);
    const double u = work.control < 0 ? 0.0 : control[work.control];
    work.T_0 = axis_impulse(values, work.omega, angle, u, h_);
    work.D = axis_damping(values, work.omega, h_);
    work.dry_bound = dry_friction_impulse_bound(values, work.omega, h_);
    c_[j] = work.gamma * c_[j] - (4.0 * work.gamma / h_) * work.geometry.g;
  }
}

// Computes JointRows and axis on each body of the joint; A v into c_, Ḡ v into omega.
void SpookStepper::update_joint_ends(const State& state, JointStepData& joint) {
  const JointGeometry& geometry = joint.geometry;
  JointRows A_v = JointRows::Zero();
  joint.omega = 0.0;
  for (int e = joint.first_end; e < joint.first_end + joint.end_count; ++e) {
    JointEnd& end = ends_[e];
    const BodyStepData& body = bodies_[end.body];
    end.W.leftCols<3>() = end.sign * hat(end.sign > 0.0 ? geometry.c_a : geometry.c_b);
    end.W.col(3) = end.sign * geometry.n_y;
    end.W.col(4) = end.sign * geometry.n_z;
    end.mobility.noalias() = body.inverse_inertia * end.W;
    end.axis = -end.sign * geometry.x_b;
    end.axis_mobility.noalias() = body.inverse_inertia * end.axis;
    const auto v = state.velocity.segment<3>(6 * end.body);
    const auto omega = state.velocity.segment<3>(6 * end.body + 3);
    A_v += rows_times(end.sign, end.W, v, omega);
    joint.omega += end.axis.dot(omega);
  }
  c_[&joint - joints_.data()] = A_v;
}

// v + M⁻¹ (h (f + f_g) + known torques), f_g = −½ (ω × J_w ω' + ω' × J_w ω), ω' the partner.
void SpookStepper::apply_known_impulses() {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    BodyStepData& body = bodies_[i];
    const Eigen::Vector3d partner_momentum =
        body.R * (values_.bodies[i].inertia * (body.R.transpose() * body.omega_partner));
    const Eigen::Vector3d gyroscopic =
        body.omega_old.cross(partner_momentum) + body.omega_partner.cross(body.momentum_old);
    body.v = body.v_old + h_ * values_.gravity;
    body.omega = body.omega_old;
    body.omega.noalias() -= 0.5 * h_ * (body.inverse_inertia * gyroscopic);
  }
  for (const JointStepData& joint : joints_) {
    if (joint.T_0 == 0.0) continue;
    for (int e = joint.first_end; e < joint.first_end + joint.end_count; ++e) {
      const JointEnd& end = ends_[e];
      bodies_[end.body].omega += joint.T_0 * end.axis_mobility;
    }
  }
}

// S = A M⁻¹ Aᵀ + Σ.
void SpookStepper::assemble_constraint_blocks() {
  factor_.set_zero();
  for (const JointEndPair& coupling : couplings_) {
    const JointEnd& row = ends_[coupling.row_end];
    const JointEnd& column = ends_[coupling.column_end];
    JointBlockCholesky::Block& block = factor_.block(coupling.row, coupling.column);
    block.noalias() += row.W.transpose() * column.mobility;
    block.diagonal().head<3>().array() += row.sign * column.sign * bodies_[row.body].inverse_mass;
  }
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const JointStepData& joint = joints_[j];
    factor_.block(static_cast<int>(j), static_cast<int>(j)).diagonal() += joint.sigma;
  }
}

// L⁻¹ (c − A M⁻¹ p) and r = Ḡ M⁻¹ p + zᵀ L⁻¹ (c − A M⁻¹ p).
void SpookStepper::reduce_right_hand_side() {
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const JointStepData& joint = joints_[j];
    reduced_[j] = c_[j];
    for (int e = joint.first_end; e < joint.first_end + joint.end_count; ++e) {
      const JointEnd& end = ends_[e];
      const BodyStepData& body = bodies_[end.body];
      reduced_[j] -= rows_times(end.sign, end.W, body.v, body.omega);
    }
  }
  factor_.solve_lower(reduced_, 0);
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const JointStepData& joint = joints_[axes_[a]];
    double r = 0.0;
    for (int e = joint.first_end; e < joint.first_end + joint.end_count; ++e) {
      const JointEnd& end = ends_[e];
      r += end.axis.dot(bodies_[end.body].omega);
    }
    for (std::size_t k = 0; k < joints_.size(); ++k) r += z_[a][k].dot(reduced_[k]);
    r_[a] = r;
  }
}

// ω = r + N T on the coupled axes, the constraints eliminated:
// N = Ḡ M⁻¹ Ḡᵀ − zᵀ z,  z = L⁻¹ A M⁻¹ Ḡᵀ.
void SpookStepper::assemble_axis_system() {
  N_.setZero();
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const auto j = static_cast<std::size_t>(axes_[a]);
    const auto row = static_cast<Eigen::Index>(a);
    std::vector<JointRows>& z = z_[a];
    for (JointRows& rows : z) rows.setZero();
    int begin = static_cast<int>(j);
    for (const JointEndPair& coupling : couplings_) {
      const bool is_row = coupling.row == axes_[a], is_column = coupling.column == axes_[a];
      if (!is_row && !is_column) continue;
      const int own = is_row ? coupling.row_end : coupling.column_end;
      const int other = is_row ? coupling.column_end : coupling.row_end;
      const int other_joint = is_row ? coupling.column : coupling.row;
      const Eigen::Vector3d& axis = ends_[own].axis;
      const JointEnd& end = ends_[other];
      z[other_joint].noalias() += end.mobility.transpose() * axis;
      begin = std::min(begin, other_joint);
      for (std::size_t b = 0; b <= a; ++b) {
        if (axes_[b] == other_joint) {
          N_(row, static_cast<Eigen::Index>(b)) += axis.dot(end.axis_mobility);
        }
      }
    }
    factor_.solve_lower(z, begin);
    for (auto k = static_cast<std::size_t>(begin); k < z.size(); ++k) {
      for (std::size_t b = 0; b <= a; ++b) {
        N_(row, static_cast<Eigen::Index>(b)) -= z[k].dot(z_[b][k]);
      }
    }
  }
  N_.triangularView<Eigen::StrictlyUpper>() = N_.transpose();
}

// (I + N D) ω = r + N λ_f  ⇒  ω = r̂ + N̂ λ_f, one axis at a time. Returns false if 1 + D N is not
// positive, that is, if negative damping exceeds the inertia.
bool SpookStepper::eliminate_damping() {
  N_damped_ = N_;
  r_damped_ = r_;
  for (Eigen::Index a = 0; a < r_.size(); ++a) {
    const double D = joints_[axes_[a]].D;
    if (D == 0.0) continue;
    const double pivot = 1.0 + D * N_damped_(a, a);
    if (!(pivot > 0.0)) return false;
    const double factor = D / pivot;
    r_damped_ -= factor * r_damped_[a] * N_damped_.col(a);
    // Column a is used to update the others, so it is updated last.
    for (Eigen::Index b = 0; b < r_.size(); ++b) {
      if (b != a) N_damped_.col(b) -= factor * N_damped_(a, b) * N_damped_.col(a);
    }
    N_damped_.col(a) /= pivot;
  }
  return true;
}

bool SpookStepper::solve_dry_friction() {
  axis_lambda_.setZero();
  for (Eigen::Index a = 0; a < r_.size(); ++a) {
    axis_bound_[a] = joints_[axes_[a]].dry_bound;
  }
  if (load_dependent_) return iterate_load_friction();
  return friction_solver_.solve(N_damped_, r_damped_, axis_bound_, axis_stick_speed_, axis_lambda_);
}

bool SpookStepper::iterate_load_friction() {
  lambda_base_ = reduced_;
  factor_.solve_upper(lambda_base_);
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    for (std::size_t k = 0; k < joints_.size(); ++k) load_[a][k] = -z_[a][k];
    factor_.solve_upper(load_[a]);
  }
  for (int round = 0; round < kMaxLoadIterations; ++round) {
    lambda_ = lambda_base_;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      const double omega = r_damped_[a] + N_damped_.col(a).dot(axis_lambda_);
      const double T = axis_lambda_[a] - joints_[axes_[a]].D * omega;
      for (std::size_t k = 0; k < joints_.size(); ++k) lambda_[k] += T * load_[a][k];
    }
    double change = 0.0, size = 0.0;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      const double bound = joints_[axes_[a]].dry_bound +
                           load_friction_bound(values_.joints[axes_[a]], joints_[axes_[a]].geometry,
                                               lambda_[axes_[a]]);
      change = std::max(change, std::abs(bound - axis_bound_[a]));
      size = std::max(size, bound);
      axis_bound_[a] = bound;
      axis_lambda_[a] = std::clamp(axis_lambda_[a], -bound, bound);
    }
    if (!friction_solver_.solve(N_damped_, r_damped_, axis_bound_, axis_stick_speed_,
                                axis_lambda_)) {
      return false;
    }
    if (change <= kLoadTolerance * size) return true;
  }
  return false;
}

// λ and v⁺ from the axis impulses.
void SpookStepper::compute_final_velocities() {
  friction_.setZero();
  bound_.setZero();
  lambda_ = reduced_;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const JointStepData& joint = joints_[axes_[a]];
    double omega = r_damped_[a];
    if (dry_) {
      omega += N_damped_.col(a).dot(axis_lambda_);
      friction_[axes_[a]] = axis_lambda_[a];
      bound_[axes_[a]] = axis_bound_[a];
    }
    const double T = friction_[axes_[a]] - joint.D * omega;
    for (std::size_t k = 0; k < joints_.size(); ++k) lambda_[k] -= T * z_[a][k];
    for (int e = joint.first_end; e < joint.first_end + joint.end_count; ++e) {
      const JointEnd& end = ends_[e];
      bodies_[end.body].omega += T * end.axis_mobility;
    }
  }
  factor_.solve_upper(lambda_);
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const JointStepData& joint = joints_[j];
    for (int e = joint.first_end; e < joint.first_end + joint.end_count; ++e) {
      const JointEnd& end = ends_[e];
      BodyStepData& body = bodies_[end.body];
      body.v += end.sign * body.inverse_mass * lambda_[j].head<3>();
      body.omega.noalias() += end.mobility * lambda_[j];
    }
  }
}

void SpookStepper::advance_state(State& state) const {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const BodyStepData& body = bodies_[i];
    const auto at = static_cast<Eigen::Index>(6 * i);
    state.velocity.segment<3>(at) = body.v;
    state.velocity.segment<3>(at + 3) = body.omega;
    state.poses[i].r += h_ * body.v;
    state.poses[i].e = apply_left_rotation(state.poses[i].e, h_ * body.omega);
  }
}

}  // namespace estimator
