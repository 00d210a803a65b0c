#pragma once

#include <ceres/ceres.h>

#include <Eigen/Core>
#include <array>
#include <memory>
#include <vector>

#include "estimator/fit/shadow/trajectory_problem.hpp"
#include "estimator/spook/step_residual.hpp"
#include "estimator/model/mechanism.hpp"
#include "tests/estimator/calibrate/ceres_poses.hpp"

namespace test_support {

/// The estimation of states and parameters of TrajectoryProblem for a mechanism of two bodies and
/// one segment, without free joint points or delays, stated for Ceres. It has one manifold block of
/// two poses (and velocities) per time step, one block of parameters and analytic Jacobians. Only
/// the step's impulse residual and the kinematics are shared with TrajectoryProblem.
///
/// Parameter bounds are not passed on to Ceres: with them Ceres adds a line search that linearizes
/// several times per iteration and stops far from the optimum.
class CeresFuruta : private ceres::EvaluationCallback {
 public:
  CeresFuruta(const estimator::Mechanism& mechanism, const estimator::TrajectoryData& data,
              const estimator::TrajectorySettings& settings);
  ~CeresFuruta() override;

  /// Fixes free parameters at their values.
  void hold(const std::vector<int>& arrow_indices);

  ceres::Solver::Summary solve(const ceres::Solver::Options& options);

  const Eigen::VectorXd& arrow() const { return chi_; }

 private:
  void PrepareForEvaluation(bool evaluate_jacobians, bool new_evaluation_point) override;
  void add_nodes(const estimator::TrajectoryData& data);
  void add_start();
  void add_steps();
  void add_observations(const estimator::TrajectoryData& data);
  void add_priors();
  bool full() const { return settings_.state_form == estimator::StateForm::kFull; }
  int node_size() const { return full() ? kFullAmbient : kAmbient; }

  estimator::Mechanism mechanism_;
  estimator::TrajectorySettings settings_;
  std::vector<int> free_;
  Eigen::VectorXd chi_;
  std::vector<std::array<double, kFullAmbient>> nodes_;
  Eigen::VectorXd controls_;
  Eigen::VectorXd row_inertia_;
  std::unique_ptr<estimator::StepResidual> residual_;
  std::unique_ptr<ceres::Problem> problem_;
};

}  // namespace test_support
