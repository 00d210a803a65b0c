#include "tests/estimator/calibrate/ceres_autodiff_furuta.hpp"

#include <cmath>
#include <cstddef>

#include "estimator/signal/resample.hpp"

namespace test_support {

using estimator::Mechanism;
using estimator::StateForm;
using estimator::TrajectoryData;
using estimator::TrajectorySettings;

namespace {

using Step = ScalarStep<2, 2>;

constexpr int kPose = CeresAutodiffFuruta::kPoseSize;
constexpr int kVelocity = 12;
constexpr int kFull = kPose + kVelocity;  // a node of the full form: poses, then velocities
constexpr int kRows = 10;

template <typename T>
Step::Poses<T> read(const T* x) {
  Step::Poses<T> poses;
  for (ScalarPose<T>& pose : poses) {
    pose.r = Eigen::Map<const Eigen::Matrix<T, 3, 1>>(x);
    pose.e = Eigen::Map<const Eigen::Quaternion<T>>(x + 3);
    x += 7;
  }
  return poses;
}

template <typename T>
Step::Vector<T> read_velocity(const T* node) {
  return Eigen::Map<const Step::Vector<T>>(node + kPose);
}

/// (to ⊟ from)/h.
template <typename T>
Step::Vector<T> velocity(const Step::Poses<T>& to, const Step::Poses<T>& from, double h) {
  Step::Vector<T> v;
  v.template head<6>() = difference(to[0], from[0]) / T(h);
  v.template tail<6>() = difference(to[1], from[1]) / T(h);
  return v;
}

// √κ times the impulse residual at the middle one of three configurations.
struct ConfigurationStep {
  const Step& step;
  double control, h, weight;

  template <typename T>
  bool operator()(T const* const* x, T* out) const {
    const Step::Poses<T> q = read(x[1]);
    const T u(control);
    Eigen::Map<Step::Vector<T>>{out} =
        weight * step.residual(q, velocity(q, read(x[0]), h), velocity(read(x[2]), q, h), &u, x[3]);
    return true;
  }
};

// √κ times both impulse residuals from one full state to the next.
struct FullStep {
  const Step& step;
  double control, h, weight;

  template <typename T>
  bool operator()(T const* const* x, T* out) const {
    const Step::Poses<T> q = read(x[0]);
    const Step::Vector<T> v = read_velocity(x[0]);
    const T u(control);
    Eigen::Map<Step::Vector<T>>{out} = weight * step.residual(q, v, read_velocity(x[1]), &u, x[2]);
    Eigen::Map<Step::Vector<T>>{out + kVelocity} =
        weight * step.residual(q, v, velocity(read(x[1]), q, h), &u, x[2]);
    return true;
  }
};

// Both encoders' angles at one node.
struct Angles {
  const Step& step;
  Eigen::Vector2d observed;
  int offset[2];  // parameters

  template <typename T>
  bool operator()(T const* const* x, T* out) const {
    const Step::Poses<T> q = read(x[0]);
    for (int j = 0; j < 2; ++j) {
      out[j] = within_a_turn<T>(step.angle(j, q) - step.value(offset[j], x[1]) - observed[j]);
    }
    return true;
  }
};

// Weighted constraint violation g of a node, or its rate G v.
struct Violation {
  const Step& step;
  Eigen::Matrix<double, kRows, 1> weights;
  bool is_rate;

  template <typename T>
  bool operator()(T const* const* x, T* out) const {
    const Step::Poses<T> q = read(x[0]);
    const Step::Rows<T> rows =
        is_rate ? step.violation_rate(q, read_velocity(x[0]), x[1]) : step.violation(q, x[1]);
    for (int row = 0; row < kRows; ++row) out[row] = weights[row] * rows[row];
    return true;
  }
};

struct Prior {
  int index;
  double mean, deviation;

  template <typename T>
  bool operator()(T const* const* x, T* out) const {
    out[0] = (x[0][index] - mean) / deviation;
    return true;
  }
};

// Ceres's own derivatives, four at a time, its default here. All 54 of a step in one pass, as in
// its AutoDiffCostFunction, take three times as long.
template <typename Functor, typename... Sizes>
ceres::CostFunction* automatic(const Functor& functor, int residuals, Sizes... block_sizes) {
  auto* const cost = new ceres::DynamicAutoDiffCostFunction<Functor>(new Functor(functor));
  (cost->AddParameterBlock(block_sizes), ...);
  cost->SetNumResiduals(residuals);
  return cost;
}

using Position = ceres::EuclideanManifold<3>;
using Attitude = ceres::EigenQuaternionManifold;

std::vector<int> free_indices(const Mechanism& mechanism) {
  std::vector<int> free;
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    if (mechanism.parameters[i].free) free.push_back(static_cast<int>(i));
  }
  return free;
}

}  // namespace

CeresAutodiffFuruta::CeresAutodiffFuruta(const Mechanism& mechanism, const TrajectoryData& data,
                                         const TrajectorySettings& settings)
    : mechanism_(mechanism),
      settings_(settings),
      free_(free_indices(mechanism)),
      step_(mechanism, settings.step, free_),
      chi_(static_cast<Eigen::Index>(free_.size())),
      node_size_(settings.state_form == StateForm::kFull ? kFull : kPose) {
  for (std::size_t i = 0; i < free_.size(); ++i) {
    chi_[static_cast<Eigen::Index>(i)] =
        mechanism.parameters[static_cast<std::size_t>(free_[i])].value;
  }
  const double h = settings_.step.step;
  controls_ = estimator::average_controls(data.controls.col(0), data.period, h,
                                          static_cast<int>(data.angles.rows()), 0.5 * h)
                  .mean;
  ceres::Problem::Options options;
  options.disable_all_safety_checks = true;
  problem_ = std::make_unique<ceres::Problem>(options);
  add_nodes(data);
  add_start();
  add_steps();
  add_observations(data);
  add_priors();
}

void CeresAutodiffFuruta::add_nodes(const TrajectoryData& data) {
  const bool full = settings_.state_form == StateForm::kFull;
  for (const estimator::Configuration& q : data.initial) {
    std::vector<double>& node = nodes_.emplace_back(static_cast<std::size_t>(node_size_), 0.0);
    double* x = node.data();
    for (const estimator::Pose& pose : q) {
      Eigen::Map<Eigen::Vector3d>{x} = pose.r;
      Eigen::Map<Eigen::Vector4d>{x + 3} = pose.e.coeffs();
      x += 7;
    }
  }
  // v_{k+1} = (q_{k+1} ⊟ q_k)/h; the first node copies its successor.
  for (std::size_t k = 0; full && k < nodes_.size(); ++k) {
    const std::size_t to = k == 0 ? 1 : k;
    Eigen::Map<Step::Vector<double>>{nodes_[k].data() + kPose} = velocity(
        read<double>(nodes_[to].data()), read<double>(nodes_[to - 1].data()), settings_.step.step);
  }
  ceres::Manifold* manifold = nullptr;  // the problem owns it
  if (full) {
    manifold = new ceres::ProductManifold<Position, Attitude, Position, Attitude,
                                          ceres::EuclideanManifold<kVelocity>>;
  } else {
    manifold = new ceres::ProductManifold<Position, Attitude, Position, Attitude>;
  }
  for (std::vector<double>& node : nodes_) {
    problem_->AddParameterBlock(node.data(), node_size_, manifold);
  }
  problem_->AddParameterBlock(chi_.data(), parameter_count());
}

void CeresAutodiffFuruta::add_start() {
  const double h = settings_.step.step;
  const Eigen::Matrix<double, kRows, 1> weights =
      estimator::kRelativeWeight * std::sqrt(settings_.state_error_weight) * step_.row_inertia();
  const auto add = [&](const auto& functor, std::size_t node) {
    problem_->AddResidualBlock(automatic(functor, kRows, node_size_, parameter_count()), nullptr,
                               nodes_[node].data(), chi_.data());
  };
  const bool full = settings_.state_form == StateForm::kFull;
  add(Violation{step_, weights / h, false}, 0);
  add(Violation{step_, weights * (full ? 1.0 : 1.0 / h), full}, full ? 0 : 1);
}

void CeresAutodiffFuruta::add_steps() {
  const double h = settings_.step.step;
  const double weight = std::sqrt(settings_.state_error_weight);
  const bool full = settings_.state_form == StateForm::kFull;
  const int n = node_size_, p = parameter_count();
  for (std::size_t k = full ? 0 : 1; k + 1 < nodes_.size(); ++k) {
    const double u = controls_[static_cast<Eigen::Index>(k)];
    if (full) {
      const FullStep step{step_, u, h, weight};
      problem_->AddResidualBlock(automatic(step, 2 * kVelocity, n, n, p), nullptr, nodes_[k].data(),
                                 nodes_[k + 1].data(), chi_.data());
    } else {
      const ConfigurationStep step{step_, u, h, weight};
      problem_->AddResidualBlock(automatic(step, kVelocity, n, n, n, p), nullptr,
                                 nodes_[k - 1].data(), nodes_[k].data(), nodes_[k + 1].data(),
                                 chi_.data());
    }
  }
}

void CeresAutodiffFuruta::add_observations(const TrajectoryData& data) {
  Angles angles{step_, {}, {}};
  for (int j = 0; j < 2; ++j) {
    angles.offset[j] =
        mechanism_.joint_parameter_index(j, estimator::JointParameter::kEncoderOffset);
  }
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    angles.observed = data.angles.row(static_cast<Eigen::Index>(k)).transpose();
    problem_->AddResidualBlock(automatic(angles, 2, node_size_, parameter_count()), nullptr,
                               nodes_[k].data(), chi_.data());
  }
}

void CeresAutodiffFuruta::add_priors() {
  for (std::size_t i = 0; i < free_.size(); ++i) {
    const estimator::Parameter& parameter =
        mechanism_.parameters[static_cast<std::size_t>(free_[i])];
    if (!std::isfinite(parameter.prior_standard_deviation)) continue;
    const Prior prior{static_cast<int>(i), parameter.prior_mean,
                      parameter.prior_standard_deviation};
    problem_->AddResidualBlock(automatic(prior, 1, parameter_count()), nullptr, chi_.data());
  }
}

void CeresAutodiffFuruta::hold(const std::vector<int>& arrow_indices) {
  problem_->SetManifold(chi_.data(), new ceres::SubsetManifold(parameter_count(), arrow_indices));
}

ceres::Solver::Summary CeresAutodiffFuruta::solve(const ceres::Solver::Options& options) {
  ceres::Solver::Summary summary;
  ceres::Solve(options, problem_.get(), &summary);
  return summary;
}

}  // namespace test_support
