// Derivatives of TrajectoryProblem's residual blocks.

#include <cmath>

#include "estimator/fit/shadow/trajectory_problem.hpp"
#include "estimator/math/so3.hpp"
#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/spook/step_residual.hpp"

namespace estimator {
namespace {

/// Computes the weighted Jacobian of an impulse residual by three consecutive configurations, from
/// its derivatives by the middle configuration and by the velocities v and w before and after it.
///
/// With ω = log(R_{k+1} R_kᵀ)/h: ∂ω/∂δψ_{k+1} = J_l⁻¹(hω)/h, ∂ω/∂δψ_k = −J_r⁻¹(hω)/h and J_r⁻¹ =
/// J_l⁻ᵀ.
///
/// @tparam kRows  rows of the residual, 6 per body, if fixed
template <int kRows>
void chain_velocities(int body_count, double h, double weight, const double* v, const double* w,
                      const StepDerivatives& derivatives, Eigen::MatrixXd& node_jacobian) {
  using Columns = Eigen::Matrix<double, kRows, Eigen::Dynamic>;
  const int n = 6 * body_count;
  const double rate = weight / h;
  const Eigen::Map<const Columns> along_q(derivatives.along_configuration.data(), n, n);
  const Eigen::Map<const Columns> along_v(derivatives.along_velocity.data(), n, n);
  const Eigen::Map<const Columns> along_w(derivatives.along_next_velocity.data(), n, n);
  Eigen::Map<Columns> out(node_jacobian.data(), n, 3 * n);
  for (int at = 0; at < n; at += 6) {
    const Eigen::Matrix3d V =
        rate * left_jacobian_inverse(h * Eigen::Map<const Eigen::Vector3d>(v + at + 3));
    const Eigen::Matrix3d W =
        rate * left_jacobian_inverse(h * Eigen::Map<const Eigen::Vector3d>(w + at + 3));
    const auto v_moves = along_v.template middleCols<3>(at);
    const auto w_moves = along_w.template middleCols<3>(at);
    const auto v_turns = along_v.template middleCols<3>(at + 3);
    const auto w_turns = along_w.template middleCols<3>(at + 3);
    out.template middleCols<3>(at) = -rate * v_moves;
    out.template middleCols<3>(at + 3) = -v_turns.lazyProduct(V.transpose());
    out.template middleCols<3>(n + at) =
        weight * along_q.template middleCols<3>(at) + rate * (v_moves - w_moves);
    out.template middleCols<3>(n + at + 3) = weight * along_q.template middleCols<3>(at + 3) +
                                             v_turns.lazyProduct(V) -
                                             w_turns.lazyProduct(W.transpose());
    out.template middleCols<3>(2 * n + at) = rate * w_moves;
    out.template middleCols<3>(2 * n + at + 3) = w_turns.lazyProduct(W);
  }
}

}  // namespace

void TrajectoryProblem::linearize(int index, ResidualBlock& out) const {
  const ResidualBlockId& block = blocks_[index];
  const bool full = settings_.state_form == StateForm::kFull;
  switch (block.kind) {
    case ResidualBlockKind::kObservation:
      return linearize_observation(block, out);
    case ResidualBlockKind::kImpulse:
      return full ? linearize_full_impulse(block, out) : linearize_impulse(block, out);
    case ResidualBlockKind::kInitial:
      return linearize_initial_constraints(block, out);
    case ResidualBlockKind::kPrior:
      return free_.linearize_priors(point_.mechanism, impulse_noise_group() + 2, out);
  }
}

void TrajectoryProblem::linearize_observation(const ResidualBlockId& block,
                                              ResidualBlock& out) const {
  resize_block(out, block.node, 1, node_size_, free_.size(), 1, block.detail);
  const Encoder& sensor = sensors_[block.detail];
  const Pose* poses = node_poses(point_, block.node);
  out.residual[0] = observation_residual(point_, block.node, block.detail);
  out.node_jacobian.setZero();
  for (const Encoder::JointTerm& term : sensor.terms) {
    const Joint& joint = point_.mechanism.joints[term.joint];
    const JointAngleJacobian jacobian = joint_angle_jacobian(joint, poses);
    out.node_jacobian.block<1, 3>(0, 6 * joint.body_b + 3) += term.sign * jacobian.b;
    if (joint.body_a != Joint::kGround) {
      out.node_jacobian.block<1, 3>(0, 6 * joint.body_a + 3) += term.sign * jacobian.a;
    }
  }
  out.parameter_jacobian.setZero();
  const int offset = free_.find_position(sensor.offset);
  if (offset >= 0) out.parameter_jacobian(0, offset) = -1.0;
}

void TrajectoryProblem::linearize_impulse(const ResidualBlockId& block, ResidualBlock& out) const {
  const Segment& segment = segments_[block.detail];
  const StepControlTable& table = point_.controls[block.detail];
  const int n = 6 * body_count_;
  const int center = block.node + 1;
  const Eigen::Index k = center - segment.first_node;
  static thread_local StepDerivatives derivatives;
  const double* const v = difference_velocity(point_, block.node);
  const double* const w = difference_velocity(point_, center);
  residual_->linearize(
      {node_poses(point_, center), v, w, table.mean.row(k).data(), table.delay_slope.row(k).data()},
      derivatives);

  resize_block(out, block.node, 3, node_size_, free_.size(), n, impulse_noise_group());
  const double weight = std::sqrt(settings_.state_error_weight);
  out.residual = weight * derivatives.residual;
  out.parameter_jacobian = weight * derivatives.along_parameters;
  switch (n) {
    case 6:
      chain_velocities<6>(body_count_, step(), weight, v, w, derivatives, out.node_jacobian);
      break;
    case 12:
      chain_velocities<12>(body_count_, step(), weight, v, w, derivatives, out.node_jacobian);
      break;
    default:
      chain_velocities<Eigen::Dynamic>(body_count_, step(), weight, v, w, derivatives,
                                       out.node_jacobian);
  }
}

void TrajectoryProblem::linearize_full_impulse(const ResidualBlockId& block,
                                               ResidualBlock& out) const {
  const Segment& segment = segments_[block.detail];
  const StepControlTable& table = point_.controls[block.detail];
  const int n = 6 * body_count_;
  const Eigen::Index k = block.node - segment.first_node;
  StepDerivatives derivatives;
  const double* const w = difference_velocity(point_, block.node);
  resize_block(out, block.node, 2, node_size_, free_.size(), 2 * n, impulse_noise_group());
  out.node_jacobian.setZero();
  const double weight = std::sqrt(settings_.state_error_weight);
  StepInput input{node_poses(point_, block.node), point_.velocities.data() + n * block.node,
                  point_.velocities.data() + n * (block.node + 1), table.mean.row(k).data(),
                  table.delay_slope.row(k).data()};
  const auto take = [&](int row) {
    residual_->linearize(input, derivatives);
    out.residual.segment(row, n) = weight * derivatives.residual;
    out.parameter_jacobian.middleRows(row, n) = weight * derivatives.along_parameters;
    out.node_jacobian.block(row, 0, n, n) = weight * derivatives.along_configuration;
    out.node_jacobian.block(row, n, n, n) = weight * derivatives.along_velocity;
  };
  take(0);  // Δp_u: to the next node's velocity
  out.node_jacobian.block(0, 3 * n, n, n) = weight * derivatives.along_next_velocity;
  input.next_velocity = w;
  take(n);  // Δp_q: to the velocity given by the next node's configuration
  const double rate = weight / step();
  for (int i = 0; i < body_count_; ++i) {
    const int at = 6 * i;
    const Eigen::Matrix3d W =
        rate * left_jacobian_inverse(step() * Eigen::Map<const Eigen::Vector3d>(w + at + 3));
    const auto along_w = derivatives.along_next_velocity.middleCols(at, 6);
    out.node_jacobian.block(n, at, n, 3) -= rate * along_w.leftCols(3);
    out.node_jacobian.block(n, at + 3, n, 3) -= along_w.rightCols(3) * W.transpose();
    out.node_jacobian.block(n, 2 * n + at, n, 3) = rate * along_w.leftCols(3);
    out.node_jacobian.block(n, 2 * n + at + 3, n, 3) = along_w.rightCols(3) * W;
  }
}

void TrajectoryProblem::linearize_initial_constraints(const ResidualBlockId& block,
                                                      ResidualBlock& out) const {
  const bool full = settings_.state_form == StateForm::kFull;
  const auto rows = static_cast<int>(row_inertia_.size());
  const int n = 6 * body_count_;
  resize_block(out, block.node, full ? 1 : 2, node_size_, free_.size(), 2 * rows,
               impulse_noise_group() + 1);
  compute_initial_constraint_residual(point_, block.detail, out.residual);
  out.node_jacobian.setZero();
  out.parameter_jacobian.setZero();
  const ModelParameterValues values = unpack_parameters(point_.mechanism);
  const double scale = kRelativeWeight * std::sqrt(settings_.state_error_weight);
  const auto jacobian_at = [&](int node) -> Eigen::MatrixXd {
    const Pose* poses = node_poses(point_, node);
    return row_inertia_.asDiagonal() *
           constraint_jacobian(point_.mechanism, values, {poses, poses + body_count_});
  };
  const Eigen::MatrixXd G = jacobian_at(block.node);
  out.node_jacobian.topLeftCorner(rows, n) = (scale / step()) * G;
  if (full) {
    out.node_jacobian.bottomRightCorner(rows, n) = scale * G;
    // Full states also satisfy G v₀ = 0, and G changes with the configuration.
    out.node_jacobian.bottomLeftCorner(rows, n) =
        scale * row_inertia_.asDiagonal() *
        constraint_rate_jacobian(point_.mechanism, values, node_poses(point_, block.node),
                                 point_.velocities.segment(n * block.node, n));
  } else {
    out.node_jacobian.bottomRightCorner(rows, n) = (scale / step()) * jacobian_at(block.node + 1);
  }
  add_initial_point_constraints(block, scale, out);
}

/// Adds derivatives by free joint points: g changes by ±R e_i, G v by ±ω × R e_i.
void TrajectoryProblem::add_initial_point_constraints(const ResidualBlockId& block, double scale,
                                                      ResidualBlock& out) const {
  const auto rows = static_cast<int>(row_inertia_.size());
  const bool full = settings_.state_form == StateForm::kFull;
  for (int column = 0; column < free_.size(); ++column) {
    const ParameterOwner target =
        find_parameter_owner(point_.mechanism, free_.parameter_indices()[column]);
    if (!is_joint_point_coordinate(target)) continue;
    const Joint& joint = point_.mechanism.joints[target.element];
    const bool on_b = target.quantity >= static_cast<int>(JointParameter::kPointBx);
    const int body = on_b ? joint.body_b : joint.body_a;
    const double sign = on_b ? -1.0 : 1.0;
    const Eigen::Vector3d unit = Eigen::Vector3d::Unit(target.quantity % 3);
    const double inertia = row_inertia_[5 * target.element];
    const auto dc_at = [&](int node) -> Eigen::Vector3d {
      return body == Joint::kGround ? unit : (node_poses(point_, node)[body].e * unit).eval();
    };
    auto first = out.parameter_jacobian.col(column).segment<3>(5 * target.element);
    auto second = out.parameter_jacobian.col(column).segment<3>(rows + 5 * target.element);
    first = (sign * scale * inertia / step()) * dc_at(block.node);
    if (!full) {
      second = (sign * scale * inertia / step()) * dc_at(block.node + 1);
    } else if (body != Joint::kGround) {
      const Eigen::Vector3d omega =
          point_.velocities.segment<3>(6 * body_count_ * block.node + 6 * body + 3);
      second = (sign * scale * inertia) * omega.cross(dc_at(block.node));
    }
  }
}

}  // namespace estimator
