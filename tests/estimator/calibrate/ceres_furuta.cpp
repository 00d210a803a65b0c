#include "tests/estimator/calibrate/ceres_furuta.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/signal/resample.hpp"
#include "tests/estimator/calibrate/ceres_full_costs.hpp"
#include "tests/estimator/calibrate/ceres_poses.hpp"

namespace test_support {

using estimator::Configuration;
using estimator::Mechanism;
using estimator::Pose;
using estimator::TrajectoryData;
using estimator::TrajectorySettings;

namespace {

// √κ times the impulse residual of the step at the middle one of three nodes.
class ImpulseCost : public ceres::CostFunction {
 public:
  ImpulseCost(const estimator::StepResidual& residual, double control, double step, double weight,
              int parameter_count)
      : residual_(residual), control_(control), step_(step), weight_(weight) {
    set_num_residuals(kTangent);
    *mutable_parameter_block_sizes() = {kAmbient, kAmbient, kAmbient, parameter_count};
  }

  bool Evaluate(const double* const* x, double* r, double** jacobians) const override {
    const Poses previous = read(x[0]), here = read(x[1]), next = read(x[2]);
    Velocity v, w;
    for (std::size_t i = 0; i < kBodies; ++i) {
      const auto at = static_cast<Eigen::Index>(6 * i);
      v.segment<6>(at) = difference(here[i], previous[i]) / step_;
      w.segment<6>(at) = difference(next[i], here[i]) / step_;
    }
    const double no_slope = 0.0;
    const estimator::StepInput input{here.data(), v.data(), w.data(), &control_, &no_slope};
    Eigen::Map<Velocity> residual(r);
    if (jacobians == nullptr) {
      residual_.evaluate(input, r);
      residual *= weight_;
      return residual.allFinite();  // false rejects the step
    }
    static thread_local estimator::StepDerivatives d;
    residual_.linearize(input, d);
    residual = weight_ * d.residual;
    if (jacobians[3] != nullptr) {
      RowMajorMap(jacobians[3], kTangent, d.along_parameters.cols()) = weight_ * d.along_parameters;
    }
    for (int i = 0; i < kBodies; ++i) chain(i, v, w, d, jacobians);
    return true;
  }

 private:
  void chain(int body, const Velocity& v, const Velocity& w, const estimator::StepDerivatives& d,
             double** jacobians) const {
    using Jacobian6 = Eigen::Matrix<double, kTangent, 6>;
    const auto through_v = [&](double sign) {
      return through_velocity(d.along_velocity, v, body, step_, sign);
    };
    const auto through_w = [&](double sign) {
      return through_velocity(d.along_next_velocity, w, body, step_, sign);
    };
    const auto put = [&](int block, const Jacobian6& J) {
      if (jacobians[block] == nullptr) return;
      Eigen::Map<Eigen::Matrix<double, kTangent, kAmbient, Eigen::RowMajor>> out(jacobians[block]);
      out.middleCols<6>(7 * body) = weight_ * J;
      out.col(7 * body + 6).setZero();
    };
    put(0, through_v(-1.0));
    put(1, d.along_configuration.middleCols<6>(6 * body) + through_v(1.0) + through_w(-1.0));
    put(2, through_w(1.0));
  }

  const estimator::StepResidual& residual_;
  double control_;
  double step_;
  double weight_;
};

// Angle of one encoder. Its offset is the parameter at `offset_index`, or fixed if that is −1.
class AngleCost : public ceres::CostFunction {
 public:
  AngleCost(const estimator::Joint& joint, double angle, double fixed_offset, int offset_index,
            int node_size, int parameter_count)
      : joint_(joint), angle_(angle), fixed_offset_(fixed_offset), offset_index_(offset_index) {
    set_num_residuals(1);
    mutable_parameter_block_sizes()->push_back(node_size);
    if (offset_index_ >= 0) mutable_parameter_block_sizes()->push_back(parameter_count);
  }

  bool Evaluate(const double* const* x, double* r, double** jacobians) const override {
    const Poses poses = read(x[0]);
    const bool ground = joint_.body_a == estimator::Joint::kGround;
    const Pose a = ground ? Pose{} : poses[static_cast<std::size_t>(joint_.body_a)];
    const Pose& b = poses[static_cast<std::size_t>(joint_.body_b)];
    const double offset = offset_index_ < 0 ? fixed_offset_ : x[1][offset_index_];
    r[0] = std::remainder(joint_angle(joint_, a, b) - offset - angle_, 2.0 * M_PI);
    if (jacobians == nullptr) return true;
    if (jacobians[0] != nullptr) {
      const estimator::JointAngleJacobian J = joint_angle_jacobian(joint_, a, b);
      RowMajorMap out(jacobians[0], 1, parameter_block_sizes()[0]);
      out.setZero();
      out.middleCols<3>(7 * joint_.body_b + 3) = J.b;
      if (!ground) out.middleCols<3>(7 * joint_.body_a + 3) = J.a;
    }
    if (offset_index_ >= 0 && jacobians[1] != nullptr) {
      std::fill_n(jacobians[1], parameter_block_sizes()[1], 0.0);
      jacobians[1][offset_index_] = -1.0;
    }
    return true;
  }

 private:
  const estimator::Joint& joint_;
  double angle_;
  double fixed_offset_;
  int offset_index_;
};

// Weighted constraint violation of a node.
class ViolationCost : public ceres::CostFunction {
 public:
  ViolationCost(const Mechanism& mechanism, Eigen::VectorXd weights, int node_size)
      : mechanism_(mechanism), values_(unpack(mechanism)), weights_(std::move(weights)) {
    set_num_residuals(static_cast<int>(weights_.size()));
    *mutable_parameter_block_sizes() = {node_size};
  }

  bool Evaluate(const double* const* x, double* r, double** jacobians) const override {
    const Poses poses = read(x[0]);
    const Configuration q(poses.begin(), poses.end());
    Eigen::Map<Eigen::VectorXd>(r, weights_.size()) =
        weights_.cwiseProduct(constraint_violation(mechanism_, values_, q));
    if (jacobians == nullptr || jacobians[0] == nullptr) return true;
    const Eigen::MatrixXd G = weights_.asDiagonal() * constraint_jacobian(mechanism_, values_, q);
    RowMajorMap out(jacobians[0], weights_.size(), parameter_block_sizes()[0]);
    out.setZero();
    for (int i = 0; i < kBodies; ++i) out.middleCols<6>(7 * i) = G.middleCols<6>(6 * i);
    return true;
  }

 private:
  const Mechanism& mechanism_;
  const estimator::ModelValues values_;
  const Eigen::VectorXd weights_;
};

// (χ_i − mean)/standard deviation.
class PriorCost : public ceres::CostFunction {
 public:
  PriorCost(int index, double mean, double deviation, int parameter_count)
      : index_(index), mean_(mean), deviation_(deviation) {
    set_num_residuals(1);
    *mutable_parameter_block_sizes() = {parameter_count};
  }
  bool Evaluate(const double* const* x, double* r, double** jacobians) const override {
    r[0] = (x[0][index_] - mean_) / deviation_;
    if (jacobians == nullptr || jacobians[0] == nullptr) return true;
    std::fill_n(jacobians[0], parameter_block_sizes()[0], 0.0);
    jacobians[0][index_] = 1.0 / deviation_;
    return true;
  }

 private:
  int index_;
  double mean_;
  double deviation_;
};

}  // namespace

CeresFuruta::CeresFuruta(const Mechanism& mechanism, const TrajectoryData& data,
                         const TrajectorySettings& settings)
    : mechanism_(mechanism), settings_(settings) {
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    if (mechanism.parameters[i].free) free_.push_back(static_cast<int>(i));
  }
  chi_.resize(static_cast<Eigen::Index>(free_.size()));
  for (std::size_t i = 0; i < free_.size(); ++i) {
    chi_[static_cast<Eigen::Index>(i)] =
        mechanism.parameters[static_cast<std::size_t>(free_[i])].value;
  }
  residual_ = make_step_residual(mechanism_, settings_.step, free_);
  const double h = settings_.step.step;
  controls_ = estimator::average_controls(data.controls.col(0), data.period, h,
                                          static_cast<int>(data.angles.rows()), 0.5 * h)
                  .mean;
  const std::vector<Eigen::Vector2d> weights = relative_weights(mechanism_, unpack(mechanism_));
  row_inertia_.resize(5 * mechanism_.joint_count());
  for (int row = 0; row < row_inertia_.size(); ++row) {
    row_inertia_[row] = weights[static_cast<std::size_t>(row / 5)][row % 5 < 3 ? 0 : 1];
  }
  ceres::Problem::Options options;
  options.evaluation_callback = this;
  options.disable_all_safety_checks = true;
  problem_ = std::make_unique<ceres::Problem>(options);
  add_nodes(data);
  add_start();
  add_steps();
  add_observations(data);
  add_priors();
}

CeresFuruta::~CeresFuruta() = default;

void CeresFuruta::add_nodes(const TrajectoryData& data) {
  nodes_.resize(data.initial.size());
  ceres::Manifold* manifold = nullptr;  // the problem owns it
  if (full()) {
    manifold = new ceres::ProductManifold<PosesManifold, ceres::EuclideanManifold<kTangent>>;
  } else {
    manifold = new PosesManifold;
  }
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    for (std::size_t i = 0; i < kBodies; ++i) {
      write(data.initial[k][i], nodes_[k].data() + 7 * i);
      // v_k = (q_k ⊟ q_{k−1})/h; the first node copies its successor.
      const std::size_t to = std::max<std::size_t>(k, 1);
      Eigen::Map<Eigen::Matrix<double, 6, 1>>{nodes_[k].data() + kAmbient + 6 * i} =
          difference(data.initial[to][i], data.initial[to - 1][i]) / settings_.step.step;
    }
    problem_->AddParameterBlock(nodes_[k].data(), node_size(), manifold);
  }
  problem_->AddParameterBlock(chi_.data(), static_cast<int>(chi_.size()));
}

void CeresFuruta::add_start() {
  const Eigen::VectorXd weights =
      (estimator::kRelativeWeight * std::sqrt(settings_.state_error_weight)) * row_inertia_;
  const Eigen::VectorXd by_step = weights / settings_.step.step;
  problem_->AddResidualBlock(new ViolationCost(mechanism_, by_step, node_size()), nullptr,
                             nodes_[0].data());
  if (full()) {
    problem_->AddResidualBlock(new ViolationRateCost(mechanism_, weights), nullptr,
                               nodes_[0].data());
  } else {
    problem_->AddResidualBlock(new ViolationCost(mechanism_, by_step, node_size()), nullptr,
                               nodes_[1].data());
  }
}

void CeresFuruta::add_steps() {
  const auto p = static_cast<int>(chi_.size());
  const double h = settings_.step.step;
  const double weight = std::sqrt(settings_.state_error_weight);
  for (std::size_t k = full() ? 0 : 1; k + 1 < nodes_.size(); ++k) {
    const double u = controls_[static_cast<Eigen::Index>(k)];
    if (full()) {
      problem_->AddResidualBlock(new FullImpulseCost(*residual_, u, h, weight, p), nullptr,
                                 nodes_[k].data(), nodes_[k + 1].data(), chi_.data());
    } else {
      problem_->AddResidualBlock(new ImpulseCost(*residual_, u, h, weight, p), nullptr,
                                 nodes_[k - 1].data(), nodes_[k].data(), nodes_[k + 1].data(),
                                 chi_.data());
    }
  }
}

void CeresFuruta::add_observations(const TrajectoryData& data) {
  const auto p = static_cast<int>(chi_.size());
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    const auto row = static_cast<Eigen::Index>(k);
    for (int j = 0; j < mechanism_.joint_count(); ++j) {
      const int offset = mechanism_.index_of_joint(j, estimator::JointQuantity::kEncoderOffset);
      const auto found = std::find(free_.begin(), free_.end(), offset);
      const bool is_free = found != free_.end();
      std::vector<double*> blocks{nodes_[k].data()};
      if (is_free) blocks.push_back(chi_.data());
      problem_->AddResidualBlock(
          new AngleCost(mechanism_.joints[static_cast<std::size_t>(j)], data.angles(row, j),
                        mechanism_.parameters[static_cast<std::size_t>(offset)].value,
                        is_free ? static_cast<int>(found - free_.begin()) : -1, node_size(), p),
          nullptr, blocks);
    }
  }
}

void CeresFuruta::add_priors() {
  for (std::size_t i = 0; i < free_.size(); ++i) {
    const estimator::Parameter& parameter =
        mechanism_.parameters[static_cast<std::size_t>(free_[i])];
    if (!std::isfinite(parameter.prior_standard_deviation)) continue;
    problem_->AddResidualBlock(
        new PriorCost(static_cast<int>(i), parameter.prior_mean, parameter.prior_standard_deviation,
                      static_cast<int>(chi_.size())),
        nullptr, chi_.data());
  }
}

void CeresFuruta::hold(const std::vector<int>& arrow_indices) {
  problem_->SetManifold(chi_.data(),
                        new ceres::SubsetManifold(static_cast<int>(chi_.size()), arrow_indices));
}

ceres::Solver::Summary CeresFuruta::solve(const ceres::Solver::Options& options) {
  ceres::Solver::Summary summary;
  ceres::Solve(options, problem_.get(), &summary);
  return summary;
}

// Ceres has written the point into chi_; the step residual caches the parameters.
void CeresFuruta::PrepareForEvaluation(bool /*evaluate_jacobians*/, bool new_evaluation_point) {
  if (!new_evaluation_point) return;
  Mechanism mechanism = mechanism_;
  for (std::size_t i = 0; i < free_.size(); ++i) {
    mechanism.parameters[static_cast<std::size_t>(free_[i])].value =
        chi_[static_cast<Eigen::Index>(i)];
  }
  residual_->set_values(unpack(mechanism));
}

}  // namespace test_support
