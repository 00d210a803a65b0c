#include "estimator/fit/shadow/simulation_problem.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "estimator/math/decompositions.hpp"
#include "estimator/math/so3.hpp"
#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/spook/spook_stepper.hpp"

namespace estimator {
namespace {

/// Removes the velocity component that violates the constraints.
void project_velocity(const Mechanism& mechanism, const ModelParameterValues& values,
                      State& state) {
  const Eigen::MatrixXd G = constraint_jacobian(mechanism, values, state.poses);
  state.velocity -= least_squares(G, G * state.velocity);
}

}  // namespace

SimulationProblem::SimulationProblem(const Mechanism& mechanism,
                                     const std::vector<TrajectoryData>& data,
                                     const std::vector<State>& initial,
                                     const StepSettings& settings, double angle_noise)
    : data_(data),
      settings_(settings),
      free_(mechanism, angle_noise),
      body_count_(mechanism.body_count()),
      sensors_(used_encoders(mechanism)) {
  assert(data.size() == initial.size());
  settings_.form = ResidualForm::kImplicit;
  point_.mechanism = mechanism;
  point_.initial = initial;
  const ModelParameterValues values = unpack_parameters(mechanism);
  for (State& state : point_.initial) {
    project_to_constraints(mechanism, values, state.poses);
    project_velocity(mechanism, values, state);
  }
  max_rows_ = free_.prior_residual_count();
  for (const TrajectoryData& segment : data_) {
    max_rows_ = std::max(max_rows_, static_cast<int>(segment.angles.rows()));
  }
  simulate(point_);
  candidate_ = point_;
  prepare_linearization();
}

ProblemShape SimulationProblem::shape() const {
  return {.node_count = static_cast<int>(data_.size()),
          .node_size = node_size_,
          .bandwidth = 1,
          .parameter_count = free_.size()};
}

int SimulationProblem::block_count() const {
  return static_cast<int>(data_.size()) * encoder_count() +
         (free_.prior_residual_count() > 0 ? 1 : 0);
}

int SimulationProblem::observation_count(int sensor) const {
  int count = 0;
  for (const TrajectoryData& segment : data_) {
    for (Eigen::Index k = 1; k < segment.angles.rows(); ++k) {
      count += std::isnan(segment.angles(k, sensor)) ? 0 : 1;
    }
  }
  return count;
}

double SimulationProblem::squared_error(int sensor) const {
  double sum = 0.0;
  for (int segment = 0; segment < static_cast<int>(data_.size()); ++segment) {
    sum += sensor_cost(point_, segment, sensor);
  }
  return sum;
}

double SimulationProblem::angle_residual(const Iterate& point, int segment, int node,
                                         int sensor) const {
  return wrap_angle_difference(point.simulated[segment](node, sensor) -
                               data_[segment].angles(node, sensor));
}

double SimulationProblem::sensor_cost(const Iterate& point, int segment, int sensor) const {
  const Eigen::MatrixXd& angles = data_[segment].angles;
  double sum = 0.0;
  for (int k = 1; k < angles.rows(); ++k) {
    if (std::isnan(angles(k, sensor))) continue;
    const double residual = angle_residual(point, segment, k, sensor);
    sum += residual * residual;
  }
  return sum;
}

void SimulationProblem::simulate(Iterate& point) const {
  point.controls.resize(data_.size());
  point.simulated.resize(data_.size());
  point.cost = free_.prior_cost(point.mechanism);
  SpookStepper stepper(point.mechanism, settings_.step, settings_.gyroscopic);
  for (std::size_t s = 0; s < data_.size(); ++s) {
    const auto nodes = static_cast<int>(data_[s].angles.rows());
    point.controls[s] = make_step_controls(point.mechanism, data_[s].controls, data_[s].period,
                                           settings_.step, nodes);
    Eigen::MatrixXd& simulated = point.simulated[s];
    simulated.setConstant(nodes, encoder_count(), std::numeric_limits<double>::quiet_NaN());
    State state = point.initial[s];
    Eigen::VectorXd control(point.controls[s].mean.cols());
    for (int k = 1; k < nodes; ++k) {
      const auto angle_of = [&](int j) {
        return joint_angle(point.mechanism.joints[j], state.poses);
      };
      for (int sensor = 0; sensor < encoder_count(); ++sensor) {
        const Encoder& facts = sensors_[sensor];
        const double angle = facts.sum(angle_of) - point.mechanism.parameters[facts.offset].value;
        const double before = k > 1 ? simulated(k - 1, sensor) : angle;
        simulated(k, sensor) = before + wrap_angle_difference(angle - before);
      }
      control = point.controls[s].mean.row(k).transpose();
      if (stepper.step(state, control) != StepOutcome::kOk) break;
    }
    for (int sensor = 0; sensor < encoder_count(); ++sensor) {
      point.cost += sensor_cost(point, static_cast<int>(s), sensor);
    }
  }
}

// --- steps of the initial states ----------------------------------------------------------------

Eigen::MatrixXd SimulationProblem::initial_state_basis(int segment) const {
  const State& state = point_.initial[segment];
  const ModelParameterValues values = unpack_parameters(point_.mechanism);
  const Eigen::MatrixXd G = constraint_jacobian(point_.mechanism, values, state.poses);
  const Eigen::MatrixXd Z = null_space(G);
  const Eigen::Index n = G.cols(), freedom = Z.cols();
  Eigen::MatrixXd basis = Eigen::MatrixXd::Zero(2 * n, 2 * freedom);
  basis.topLeftCorner(n, freedom) = Z;
  basis.bottomRightCorner(n, freedom) = Z;
  // The constraint G v = 0 changes with the configuration, so δv gains −G⁺ (dG[Z α] v).
  const Eigen::MatrixXd turn =
      constraint_rate_jacobian(point_.mechanism, values, state.poses.data(), state.velocity);
  basis.bottomLeftCorner(n, freedom) = -pseudo_inverse(G) * (turn * Z);
  return basis;
}

void SimulationProblem::prepare_linearization() {
  const int segments = static_cast<int>(data_.size());
  point_.bases.clear();
  for (int segment = 0; segment < segments; ++segment) {
    point_.bases.push_back(initial_state_basis(segment));
  }
  node_size_ = static_cast<int>(point_.bases.front().cols());
  std::vector<SegmentSensitivity> sensitivities;
  for (int segment = 0; segment < segments; ++segment) {
    sensitivities.push_back(compute_segment_sensitivity(segment));
  }
  point_.sensitivities =
      std::make_shared<const std::vector<SegmentSensitivity>>(std::move(sensitivities));
}

void SimulationProblem::move_initial_state(const State& from, const Eigen::MatrixXd& basis,
                                           const Eigen::Ref<const Eigen::VectorXd>& step,
                                           const Mechanism& mechanism, State& to) const {
  const Eigen::VectorXd tangent = basis * step;
  const Eigen::Index n = from.velocity.size();
  for (int i = 0; i < body_count_; ++i) {
    to.poses[i] = apply_pose_increment(from.poses[i], tangent.segment<6>(6 * i));
  }
  to.velocity = from.velocity + tangent.tail(n);
  const ModelParameterValues values = unpack_parameters(mechanism);
  project_to_constraints(mechanism, values, to.poses);
  project_velocity(mechanism, values, to);
}

double SimulationProblem::evaluate_trial_step(const Eigen::VectorXd& node_step,
                                              const Eigen::VectorXd& parameter_step) {
  free_.move(point_.mechanism, parameter_step, candidate_.mechanism);
  if (!FreeParameters::has_valid_dependent_parameters(candidate_.mechanism)) {
    candidate_.cost = std::numeric_limits<double>::infinity();
    return candidate_.cost;
  }
  for (std::size_t s = 0; s < data_.size(); ++s) {
    move_initial_state(point_.initial[s], point_.bases[s],
                       node_step.segment(static_cast<Eigen::Index>(s) * node_size_, node_size_),
                       candidate_.mechanism, candidate_.initial[s]);
  }
  simulate(candidate_);
  return candidate_.cost;
}

void SimulationProblem::accept_trial_step() {
  std::swap(point_, candidate_);
  candidate_.sensitivities.reset();
  prepare_linearization();
}

// --- derivatives --------------------------------------------------------------------------------

void SimulationProblem::linearize(int index, ResidualBlock& out) const {
  const int blocks = static_cast<int>(data_.size()) * encoder_count();
  if (index == blocks) {
    free_.linearize_priors(point_.mechanism, encoder_count(), out);
    return;
  }
  const int segment = index / encoder_count(), sensor = index % encoder_count();
  const Eigen::MatrixXd& angles = data_[segment].angles;
  const Eigen::MatrixXd& sensitivity = (*point_.sensitivities)[segment][sensor];
  int rows = 0;
  for (int k = 1; k < angles.rows(); ++k) rows += std::isnan(angles(k, sensor)) ? 0 : 1;
  resize_block(out, segment, 1, node_size_, free_.size(), rows, sensor);
  int row = 0;
  for (int k = 1; k < angles.rows(); ++k) {
    if (std::isnan(angles(k, sensor))) continue;
    out.residual[row] = angle_residual(point_, segment, k, sensor);
    out.node_jacobian.row(row) = sensitivity.row(k).head(node_size_);
    out.parameter_jacobian.row(row) = sensitivity.row(k).tail(free_.size());
    ++row;
  }
}

/// Computes the derivatives of the readings at a node: angle derivatives times the configuration's
/// sensitivity, and −1 for a free encoder offset.
void SimulationProblem::store_angle_sensitivities(const State& state, const Eigen::MatrixXd& S,
                                                  int node, SegmentSensitivity& out) const {
  for (int sensor = 0; sensor < encoder_count(); ++sensor) {
    const Encoder& facts = sensors_[sensor];
    auto row = out[sensor].row(node);
    row.setZero();
    for (const Encoder::JointTerm& term : facts.terms) {
      const Joint& joint = point_.mechanism.joints[term.joint];
      const JointAngleJacobian jacobian = joint_angle_jacobian(joint, state.poses.data());
      row.noalias() += term.sign * jacobian.b * S.middleRows(6 * joint.body_b + 3, 3);
      if (joint.body_a != Joint::kGround) {
        row.noalias() += term.sign * jacobian.a * S.middleRows(6 * joint.body_a + 3, 3);
      }
    }
    const int offset = free_.find_position(facts.offset);
    if (offset >= 0) row[node_size_ + offset] -= 1.0;
  }
}

SimulationProblem::SegmentSensitivity SimulationProblem::compute_segment_sensitivity(
    int segment) const {
  const auto s = static_cast<std::size_t>(segment);
  const Eigen::Index n = 6 * body_count_, nodes = data_[s].angles.rows();
  const double h = settings_.step;
  const StepControlTable& table = point_.controls[s];
  const auto residual = make_step_residual(point_.mechanism, settings_, free_.parameter_indices());
  SpookStepper stepper(point_.mechanism, h, settings_.gyroscopic);
  SegmentSensitivity out(sensors_.size(), Eigen::MatrixXd::Zero(nodes, node_size_ + free_.size()));
  State state = point_.initial[s];
  Eigen::MatrixXd S_q = Eigen::MatrixXd::Zero(n, node_size_ + free_.size()), S_v = S_q, next = S_q;
  S_q.leftCols(node_size_) = point_.bases[s].topRows(n);
  S_v.leftCols(node_size_) = point_.bases[s].bottomRows(n);
  Eigen::PartialPivLU<Eigen::MatrixXd> factor(n);
  Eigen::VectorXd control(table.mean.cols());
  StepDerivatives derivatives;
  State after = state;
  for (Eigen::Index k = 1; k < nodes; ++k) {
    store_angle_sensitivities(state, S_q, static_cast<int>(k), out);
    control = table.mean.row(k).transpose();
    after = state;
    if (stepper.step(after, control) != StepOutcome::kOk) break;
    residual->linearize({state.poses.data(), state.velocity.data(), after.velocity.data(),
                         table.mean.row(k).data(), table.delay_slope.row(k).data()},
                        derivatives);
    next.noalias() = derivatives.along_configuration * S_q;
    next.noalias() += derivatives.along_velocity * S_v;
    next.rightCols(free_.size()) += derivatives.along_parameters;
    factor.compute(derivatives.along_next_velocity);
    S_v = factor.solve(next);
    S_v = -S_v;
    for (int i = 0; i < body_count_; ++i) {
      const int at = 6 * i;
      S_q.middleRows<3>(at) += h * S_v.middleRows<3>(at);
      // R⁺ = exp(h ω) R changes with both R and ω: δψ⁺ = E δψ + J_l h δω.
      const Eigen::Vector3d psi = h * after.velocity.segment<3>(at + 3);
      const Eigen::Matrix3d E = exp_so3(psi).toRotationMatrix();
      const Eigen::Matrix3d J_l = left_jacobian_inverse(psi).inverse();
      S_q.middleRows<3>(at + 3) =
          (E * S_q.middleRows<3>(at + 3) + h * J_l * S_v.middleRows<3>(at + 3)).eval();
    }
    std::swap(state, after);
  }
  return out;
}

}  // namespace estimator
