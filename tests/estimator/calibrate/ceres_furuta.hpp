#pragma once

#include <ceres/ceres.h>

#include <Eigen/Core>
#include <array>
#include <memory>
#include <vector>

#include "estimator/calibrate/trajectory_problem.hpp"
#include "estimator/dynamics/step_residual.hpp"
#include "estimator/model/mechanism.hpp"

namespace test_support {

/// The joint problem of TrajectoryProblem for a mechanism of two bodies, configurations only, one
/// segment, without free hinge points or delays, stated for Ceres: one manifold block of two poses
/// a node, one block of parameters, analytic Jacobians. Only the step's impulse residual and the
/// kinematics are shared with TrajectoryProblem; blocks, weights and chain rules are its own.
///
/// Bounds are not passed on: with them Ceres adds a line search that linearises several times an
/// iteration, and stops far from the optimum.
class CeresFuruta : private ceres::EvaluationCallback {
 public:
  static constexpr int kBodies = 2;
  static constexpr int kAmbient = 7 * kBodies;
  static constexpr int kTangent = 6 * kBodies;

  CeresFuruta(const estimator::Mechanism& mechanism, const estimator::TrajectoryData& data,
              const estimator::TrajectorySettings& settings);
  ~CeresFuruta() override;

  /// Holds a free parameter at its value.
  void hold(const std::vector<int>& arrow_indices);

  ceres::Solver::Summary solve(const ceres::Solver::Options& options);

  const Eigen::VectorXd& arrow() const { return chi_; }
  /// Poses of a node (r, e) a body, as Ceres sees them.
  const std::array<double, kAmbient>& node(int index) const {
    return nodes_[static_cast<std::size_t>(index)];
  }

 private:
  void PrepareForEvaluation(bool evaluate_jacobians, bool new_evaluation_point) override;
  void add_nodes(const estimator::TrajectoryData& data);
  void add_residuals(const estimator::TrajectoryData& data);

  estimator::Mechanism mechanism_;
  estimator::TrajectorySettings settings_;
  std::vector<int> free_;
  Eigen::VectorXd chi_;
  std::vector<std::array<double, kAmbient>> nodes_;
  Eigen::VectorXd controls_;
  Eigen::VectorXd row_inertia_;
  std::unique_ptr<estimator::StepResidual> residual_;
  std::unique_ptr<ceres::Problem> problem_;
};

}  // namespace test_support
