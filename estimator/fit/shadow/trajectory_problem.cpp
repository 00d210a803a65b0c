#include "estimator/fit/shadow/trajectory_problem.hpp"

#include <cassert>
#include <cmath>
#include <limits>

#include "estimator/math/so3.hpp"
#include "estimator/model/kinematics/kinematics.hpp"

namespace estimator {
namespace {

Configuration configuration_at(const Pose* poses, int body_count) {
  return {poses, poses + body_count};
}

}  // namespace

TrajectoryProblem::TrajectoryProblem(const Mechanism& mechanism,
                                     const std::vector<TrajectoryData>& data,
                                     const TrajectorySettings& settings)
    : settings_(settings),
      body_count_(mechanism.body_count()),
      free_(mechanism, settings.angle_noise),
      node_size_((settings.state_form == StateForm::kFull ? 12 : 6) * mechanism.body_count()) {
  point_.mechanism = mechanism;
  sensors_ = used_encoders(mechanism);
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    delay_free_ |= mechanism.joint_parameter(j, JointParameter::kInputDelay).free;
  }
  make_residual_blocks(data);
  const ModelParameterValues values = unpack_parameters(mechanism);
  row_inertia_.resize(5 * mechanism.joint_count());
  const std::vector<Eigen::Vector2d> inertias = constrained_inertias(mechanism, values);
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    row_inertia_.segment<3>(5 * j).setConstant(inertias[j][0]);
    row_inertia_.segment<2>(5 * j + 3).setConstant(inertias[j][1]);
  }
  residual_ = make_step_residual(mechanism, settings_.step, free_.parameter_indices());
  candidate_residual_ = make_step_residual(mechanism, settings_.step, free_.parameter_indices());
  update_controls(point_);
  candidate_ = point_;
  current_cost_ = total_cost(point_, *residual_);
}

void TrajectoryProblem::make_residual_blocks(const std::vector<TrajectoryData>& data) {
  int nodes = 0;
  for (const TrajectoryData& segment : data) nodes += static_cast<int>(segment.angles.rows());
  angles_.resize(nodes, static_cast<Eigen::Index>(sensors_.size()));
  const bool full = settings_.state_form == StateForm::kFull;
  if (full) point_.velocities.setZero(6 * body_count_ * nodes);
  int first = 0;
  for (std::size_t s = 0; s < data.size(); ++s) {
    const auto count = static_cast<int>(data[s].angles.rows());
    assert(count >= 3 && static_cast<int>(data[s].initial.size()) == count);
    segments_.push_back({first, count, data[s].controls, data[s].period});
    angles_.middleRows(first, count) = data[s].angles;
    for (int k = 0; k < count; ++k) {
      const Configuration& q = data[s].initial[k];
      point_.poses.insert(point_.poses.end(), q.begin(), q.end());
      const int node = first + k;
      if (k == (full ? 0 : 1))
        blocks_.push_back({ResidualBlockKind::kInitial, first, static_cast<int>(s)});
      for (int sensor = 0; sensor < static_cast<int>(sensors_.size()); ++sensor) {
        if (!std::isnan(angles_(node, sensor))) {
          blocks_.push_back({ResidualBlockKind::kObservation, node, sensor});
        }
      }
      if (k >= (full ? 1 : 2)) {
        blocks_.push_back(
            {ResidualBlockKind::kImpulse, node - (full ? 1 : 2), static_cast<int>(s)});
      }
    }
    first += count;
  }
  if (free_.prior_residual_count() > 0)
    blocks_.push_back({ResidualBlockKind::kPrior, nodes - 1, 0});
  update_difference_velocities(point_);
  if (!full) return;
  const Eigen::Index n = 6 * body_count_;
  for (const Segment& segment : segments_) {
    for (int k = 0; k < segment.node_count; ++k) {
      // v_{k+1} = (q_{k+1} ⊟ q_k)/h [Mar, eq. 4.3]; the first node copies its successor.
      const int from = segment.first_node + std::max(k - 1, 0);
      point_.velocities.segment(n * (segment.first_node + k), n) =
          point_.differences.segment(n * from, n);
    }
  }
}

void TrajectoryProblem::update_controls(Iterate& point) const {
  point.controls.resize(segments_.size());
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const Segment& segment = segments_[s];
    point.controls[s] = make_step_controls(point.mechanism, segment.raw_controls, segment.period,
                                           step(), segment.node_count);
  }
}

ProblemShape TrajectoryProblem::shape() const {
  return {.node_count = static_cast<int>(angles_.rows()),
          .node_size = node_size_,
          .bandwidth = settings_.state_form == StateForm::kFull ? 1 : 2,
          .parameter_count = free_.size()};
}

int TrajectoryProblem::max_block_rows() const {
  return std::max({12 * body_count_, static_cast<int>(2 * row_inertia_.size()), free_.size()});
}

// --- cost ---------------------------------------------------------------------------------------

void TrajectoryProblem::update_difference_velocities(Iterate& point) const {
  point.differences.setZero(6 * static_cast<Eigen::Index>(point.poses.size()));
  for (const Segment& segment : segments_) {
    for (int k = 0; k + 1 < segment.node_count; ++k) {
      const Pose* from = node_poses(point, segment.first_node + k);
      const int first = (segment.first_node + k) * body_count_;
      for (int i = 0; i < body_count_; ++i) {
        point.differences.segment<6>(6 * (first + i)) =
            pose_difference(from[body_count_ + i], from[i]) / step();
      }
    }
  }
}

double TrajectoryProblem::predict_reading(const Iterate& point, int node,
                                          const Encoder& sensor) const {
  const Pose* poses = node_poses(point, node);
  const auto angle = [&](int j) { return joint_angle(point.mechanism.joints[j], poses); };
  return sensor.sum(angle) - point.mechanism.parameters[sensor.offset].value;
}

double TrajectoryProblem::observation_residual(const Iterate& point, int node, int sensor) const {
  return wrap_angle_difference(predict_reading(point, node, sensors_[sensor]) -
                               angles_(node, sensor));
}

double TrajectoryProblem::observation_cost(const Iterate& point, int segment) const {
  const Segment& s = segments_[segment];
  double sum = 0.0;
  for (int node = s.first_node; node < s.first_node + s.node_count; ++node) {
    for (int sensor = 0; sensor < static_cast<int>(sensors_.size()); ++sensor) {
      if (std::isnan(angles_(node, sensor))) continue;
      const double residual = observation_residual(point, node, sensor);
      sum += residual * residual;
    }
  }
  return sum;
}

double TrajectoryProblem::impulse_cost(const Iterate& point, const StepResidual& residual,
                                       int segment) const {
  const Segment& s = segments_[segment];
  const StepControlTable& table = point.controls[segment];
  const Eigen::Index n = 6 * body_count_;
  Eigen::VectorXd r(n);
  const bool full = settings_.state_form == StateForm::kFull;
  double sum = 0.0;
  for (int k = full ? 0 : 1; k + 1 < s.node_count; ++k) {
    const int node = s.first_node + k;
    StepInput input{.poses = node_poses(point, node), .control = table.mean.row(k).data()};
    if (full) {
      input.velocity = point.velocities.data() + n * node;
      input.next_velocity = point.velocities.data() + n * (node + 1);
      residual.evaluate(input, r.data());
      sum += r.squaredNorm();
    } else {
      input.velocity = difference_velocity(point, node - 1);
    }
    input.next_velocity = difference_velocity(point, node);
    residual.evaluate(input, r.data());
    sum += r.squaredNorm();
  }
  return sum;
}

void TrajectoryProblem::compute_initial_constraint_residual(const Iterate& point, int segment,
                                                            Eigen::VectorXd& residual) const {
  const int node = segments_[segment].first_node;
  const ModelParameterValues values = unpack_parameters(point.mechanism);
  const Configuration q = configuration_at(node_poses(point, node), body_count_);
  const Eigen::Index rows = row_inertia_.size();
  const double scale = kRelativeWeight * std::sqrt(settings_.state_error_weight);
  residual.resize(2 * rows);
  residual.head(rows) = (scale / step()) *
                        row_inertia_.cwiseProduct(constraint_violation(point.mechanism, values, q));
  if (settings_.state_form == StateForm::kFull) {
    residual.tail(rows) =
        scale * row_inertia_.cwiseProduct(
                    constraint_jacobian(point.mechanism, values, q) *
                    point.velocities.segment(6 * body_count_ * node, 6 * body_count_));
  } else {
    const Configuration next = configuration_at(node_poses(point, node + 1), body_count_);
    residual.tail(rows) = (scale / step()) * row_inertia_.cwiseProduct(constraint_violation(
                                                 point.mechanism, values, next));
  }
}

double TrajectoryProblem::total_cost(const Iterate& point, const StepResidual& residual) const {
  double sum = free_.prior_cost(point.mechanism);
  Eigen::VectorXd constraints;
  for (int segment = 0; segment < segment_count(); ++segment) {
    compute_initial_constraint_residual(point, segment, constraints);
    sum += settings_.state_error_weight * impulse_cost(point, residual, segment) +
           observation_cost(point, segment) + constraints.squaredNorm();
  }
  return sum;
}

double TrajectoryProblem::evaluate_trial_step(const Eigen::VectorXd& node_step,
                                              const Eigen::VectorXd& parameter_step) {
  const int nodes = static_cast<int>(angles_.rows());
  for (int node = 0; node < nodes; ++node) {
    for (int i = 0; i < body_count_; ++i) {
      const auto at = static_cast<std::size_t>(node * body_count_ + i);
      candidate_.poses[at] =
          apply_pose_increment(point_.poses[at], node_step.segment<6>(node * node_size_ + 6 * i));
    }
    if (settings_.state_form == StateForm::kFull) {
      const Eigen::Index n = 6 * body_count_;
      candidate_.velocities.segment(n * node, n) =
          point_.velocities.segment(n * node, n) + node_step.segment(node * node_size_ + n, n);
    }
  }
  update_difference_velocities(candidate_);
  free_.move(point_.mechanism, parameter_step, candidate_.mechanism);
  if (!FreeParameters::has_valid_dependent_parameters(candidate_.mechanism)) {
    candidate_cost_ = std::numeric_limits<double>::infinity();
    return candidate_cost_;
  }
  if (delay_free_) update_controls(candidate_);
  candidate_residual_->set_parameter_values(unpack_parameters(candidate_.mechanism));
  candidate_cost_ = total_cost(candidate_, *candidate_residual_);
  return candidate_cost_;
}

void TrajectoryProblem::accept_trial_step() {
  std::swap(point_, candidate_);
  std::swap(residual_, candidate_residual_);
  std::swap(current_cost_, candidate_cost_);
}

void TrajectoryProblem::restore_point() {
  point_ = saved_;
  residual_->set_parameter_values(unpack_parameters(point_.mechanism));
  current_cost_ = total_cost(point_, *residual_);
}

// --- results ------------------------------------------------------------------------------------

State TrajectoryProblem::state_after_first_step(int segment) const {
  const int node = segments_[segment].first_node + 1;
  State state;
  state.poses = configuration_at(node_poses(point_, node), body_count_);
  const Eigen::Index n = 6 * body_count_;
  if (settings_.state_form == StateForm::kFull) {
    state.velocity = point_.velocities.segment(n * node, n);
  } else {
    state.velocity = point_.differences.segment(n * (node - 1), n);
  }
  return state;
}

Eigen::MatrixXd TrajectoryProblem::predicted_angles(int segment) const {
  const Segment& s = segments_[segment];
  Eigen::MatrixXd angles(s.node_count, angles_.cols());
  for (int k = 0; k < s.node_count; ++k) {
    for (Eigen::Index sensor = 0; sensor < angles_.cols(); ++sensor) {
      angles(k, sensor) = predict_reading(point_, s.first_node + k, sensors_[sensor]);
    }
  }
  return angles;
}

Eigen::MatrixXd TrajectoryProblem::step_controls(int segment) const {
  return point_.controls[segment].mean;
}

}  // namespace estimator
