#include "tests/estimator/optimize/rotation_chain_problem.hpp"

#include <ceres/ceres.h>

namespace test_support {

using estimator::ResidualBlock;
using Pose = RotationChain::Pose;
constexpr int kParameters = RotationChain::kParameters;
constexpr int kNodeSize = RotationChain::kNodeSize;

RotationChain make_rotation_chain(int node_count, std::mt19937& random) {
  std::normal_distribution<double> normal;
  const auto noise3 = [&](double sigma) {
    return Eigen::Vector3d(sigma * normal(random), sigma * normal(random), sigma * normal(random));
  };
  RotationChain chain;
  Eigen::VectorXd truth(kParameters);
  truth << 1.1, 0.9, 1.05, 0.02, -0.03, 0.01, 1.2, 0.05;
  std::vector<Pose> poses{{Eigen::Quaterniond::Identity(), Eigen::Vector3d::Zero()}};
  for (int k = 0; k + 1 < node_count; ++k) {
    const double t = RotationChain::kStep * k;
    chain.rates.push_back({std::sin(1.3 * t), 0.8 * std::cos(0.7 * t), 1.0 + 0.5 * std::sin(t)});
    chain.speeds.push_back(1.0 + 0.5 * std::cos(0.4 * t));
    const Eigen::Vector3d turn =
        RotationChain::kStep *
        (truth.head<3>().cwiseProduct(chain.rates.back()) + truth.segment<3>(3));
    const Pose& last = poses.back();
    const Eigen::Vector3d travel(truth[6] * RotationChain::kStep * chain.speeds.back(), 0.0, 0.0);
    poses.push_back({last.q * RotationChain::exp_quaternion<double>(turn + noise3(0.005)),
                     last.p + last.q * travel + noise3(0.005)});
  }
  for (int k = 0; k < node_count; ++k) {
    const Pose& pose = poses[static_cast<std::size_t>(k)];
    for (int landmarks = k % 4; landmarks >= 0; --landmarks) {
      RotationChain::Sighting sighting{k, pose.p + noise3(3.0), Eigen::Vector2d::Zero()};
      Eigen::Vector2d seen;
      RotationChain::observation<double>(pose.q, pose.p, truth.data(), sighting.landmark,
                                         Eigen::Vector2d::Zero(), seen.data());
      sighting.seen = seen / 50.0 + 0.01 * noise3(1.0).head<2>();
      chain.sightings.push_back(sighting);
    }
  }
  for (Pose& pose : poses) {
    pose.q = pose.q * RotationChain::exp_quaternion<double>(noise3(0.1));
    pose.p += noise3(0.2);
  }
  chain.poses = poses;
  chain.chi = Eigen::VectorXd::Constant(kParameters, 0.5);
  chain.lower = Eigen::VectorXd::Constant(kParameters, -10.0);
  chain.upper = Eigen::VectorXd::Constant(kParameters, 10.0);
  return chain;
}

RotationChainProblem::RotationChainProblem(RotationChain chain) : chain_(std::move(chain)) {
  std::size_t sighting = 0;
  for (int k = 0; k < static_cast<int>(chain_.poses.size()); ++k) {
    if (k > 0) blocks_.push_back({true, k - 1});
    for (; sighting < chain_.sightings.size() && chain_.sightings[sighting].node == k; ++sighting) {
      blocks_.push_back({false, static_cast<int>(sighting)});
    }
  }
}

estimator::ArrowLayout RotationChainProblem::layout() const {
  return {static_cast<int>(chain_.poses.size()), kNodeSize, 1, kParameters};
}

namespace {

template <typename T>
struct LiftedPose {
  Eigen::Quaternion<T> q;
  Eigen::Matrix<T, 3, 1> p;
};

// The pose moved along its tangent, with derivative parts first, first + 1, …
template <typename T>
LiftedPose<T> lift(const Pose& pose, int first) {
  Eigen::Matrix<T, 3, 1> rotation;
  Eigen::Matrix<T, 3, 1> position;
  for (int i = 0; i < 3; ++i) {
    rotation[i] = T(0.0, first + i);
    position[i] = T(pose.p[i], first + 3 + i);
  }
  return {pose.q.cast<T>() * RotationChain::exp_quaternion<T>(rotation), position};
}

Pose moved(const Pose& pose, const Eigen::Matrix<double, 6, 1>& step) {
  return {(pose.q * RotationChain::exp_quaternion<double>(step.head<3>())).normalized(),
          pose.p + step.tail<3>()};
}

}  // namespace

void RotationChainProblem::linearize(int index, ResidualBlock& out) const {
  using T = ceres::Jet<double, 2 * kNodeSize + kParameters>;
  const Block& block = blocks_[static_cast<std::size_t>(index)];
  const auto k = static_cast<std::size_t>(block.index);
  const int span = block.is_transition ? 2 : 1;
  const int rows = block.is_transition ? 6 : 2;
  T chi[kParameters];
  for (int i = 0; i < kParameters; ++i) chi[i] = T(chain_.chi[i], span * kNodeSize + i);
  T residual[6];
  if (block.is_transition) {
    const auto first = lift<T>(chain_.poses[k], 0);
    const auto second = lift<T>(chain_.poses[k + 1], kNodeSize);
    RotationChain::transition<T>(first.q, first.p, second.q, second.p, chi, chain_.rates[k],
                                 chain_.speeds[k], residual);
    out.first_node = block.index;
  } else {
    const RotationChain::Sighting& sighting = chain_.sightings[k];
    const auto pose = lift<T>(chain_.poses[static_cast<std::size_t>(sighting.node)], 0);
    RotationChain::observation<T>(pose.q, pose.p, chi, sighting.landmark, sighting.seen, residual);
    out.first_node = sighting.node;
  }
  out.node_span = span;
  out.rows = rows;
  out.group = block.is_transition ? 0 : 1;
  if (out.residual.size() < rows) out.residual.resize(6);
  if (out.node_jacobian.rows() < rows || out.node_jacobian.cols() < span * kNodeSize) {
    out.node_jacobian.resize(6, 2 * kNodeSize);
  }
  if (out.arrow_jacobian.rows() < rows) out.arrow_jacobian.resize(6, kParameters);
  for (int i = 0; i < rows; ++i) {
    out.residual[i] = residual[i].a;
    out.node_jacobian.row(i).head(span * kNodeSize) =
        residual[i].v.head(span * kNodeSize).transpose();
    out.arrow_jacobian.row(i) = residual[i].v.segment(span * kNodeSize, kParameters).transpose();
  }
}

double RotationChainProblem::evaluate_candidate(const Eigen::VectorXd& node_step,
                                                const Eigen::VectorXd& arrow_step) {
  candidate_poses_.resize(chain_.poses.size());
  for (std::size_t k = 0; k < chain_.poses.size(); ++k) {
    candidate_poses_[k] =
        moved(chain_.poses[k], node_step.segment<6>(static_cast<Eigen::Index>(k) * kNodeSize));
  }
  candidate_chi_ = chain_.chi + arrow_step;
  return cost_at(candidate_poses_, candidate_chi_);
}

void RotationChainProblem::accept_candidate() {
  chain_.poses = candidate_poses_;
  chain_.chi = candidate_chi_;
}

double RotationChainProblem::cost_at(const std::vector<Pose>& poses,
                                     const Eigen::VectorXd& chi) const {
  double cost = 0.0;
  Eigen::Matrix<double, 6, 1> transition;
  for (std::size_t k = 0; k + 1 < poses.size(); ++k) {
    RotationChain::transition<double>(poses[k].q, poses[k].p, poses[k + 1].q, poses[k + 1].p,
                                      chi.data(), chain_.rates[k], chain_.speeds[k],
                                      transition.data());
    cost += transition.squaredNorm();
  }
  Eigen::Vector2d observation;
  for (const RotationChain::Sighting& sighting : chain_.sightings) {
    const Pose& pose = poses[static_cast<std::size_t>(sighting.node)];
    RotationChain::observation<double>(pose.q, pose.p, chi.data(), sighting.landmark, sighting.seen,
                                       observation.data());
    cost += observation.squaredNorm();
  }
  return cost;
}

namespace {

struct TransitionCost {
  Eigen::Vector3d rate;
  double speed;
  template <typename T>
  bool operator()(const T* q0, const T* p0, const T* q1, const T* p1, const T* chi,
                  T* residual) const {
    using Quaternion = Eigen::Map<const Eigen::Quaternion<T>>;
    using Vector = Eigen::Map<const Eigen::Matrix<T, 3, 1>>;
    RotationChain::transition<T>(Quaternion(q0), Vector(p0), Quaternion(q1), Vector(p1), chi, rate,
                                 speed, residual);
    return true;
  }
};

struct ObservationCost {
  Eigen::Vector3d landmark;
  Eigen::Vector2d seen;
  template <typename T>
  bool operator()(const T* q, const T* p, const T* chi, T* residual) const {
    using Quaternion = Eigen::Map<const Eigen::Quaternion<T>>;
    using Vector = Eigen::Map<const Eigen::Matrix<T, 3, 1>>;
    RotationChain::observation<T>(Quaternion(q), Vector(p), chi, landmark, seen, residual);
    return true;
  }
};

}  // namespace

double solve_with_ceres(RotationChain& chain, const std::vector<int>& held) {
  ceres::Problem problem;
  for (Pose& pose : chain.poses) {
    problem.AddParameterBlock(pose.q.coeffs().data(), 4, new ceres::EigenQuaternionManifold);
    problem.AddParameterBlock(pose.p.data(), 3);
  }
  problem.AddParameterBlock(chain.chi.data(), kParameters);
  if (!held.empty()) {
    problem.SetManifold(chain.chi.data(), new ceres::SubsetManifold(kParameters, held));
  }
  for (std::size_t k = 0; k + 1 < chain.poses.size(); ++k) {
    Pose& first = chain.poses[k];
    Pose& second = chain.poses[k + 1];
    problem.AddResidualBlock(
        new ceres::AutoDiffCostFunction<TransitionCost, 6, 4, 3, 4, 3, kParameters>(
            new TransitionCost{chain.rates[k], chain.speeds[k]}),
        nullptr, first.q.coeffs().data(), first.p.data(), second.q.coeffs().data(), second.p.data(),
        chain.chi.data());
  }
  for (const RotationChain::Sighting& sighting : chain.sightings) {
    Pose& pose = chain.poses[static_cast<std::size_t>(sighting.node)];
    problem.AddResidualBlock(new ceres::AutoDiffCostFunction<ObservationCost, 2, 4, 3, kParameters>(
                                 new ObservationCost{sighting.landmark, sighting.seen}),
                             nullptr, pose.q.coeffs().data(), pose.p.data(), chain.chi.data());
  }
  ceres::Solver::Options options;
  options.max_num_iterations = 1000;
  options.function_tolerance = 1e-15;
  options.gradient_tolerance = 1e-12;
  options.parameter_tolerance = 1e-14;
  options.linear_solver_type = ceres::SPARSE_NORMAL_CHOLESKY;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  return 2.0 * summary.final_cost;
}

}  // namespace test_support
