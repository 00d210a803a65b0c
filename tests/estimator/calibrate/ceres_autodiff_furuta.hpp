#pragma once

#include <ceres/ceres.h>

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "estimator/fit/shadow/trajectory_problem.hpp"
#include "estimator/model/mechanism.hpp"
#include "tests/estimator/residual/scalar_step.hpp"

namespace test_support {

/// The estimation of states and parameters of TrajectoryProblem for two bodies, two joints and one
/// segment, as a user of Ceres would write it: residual functors, differentiated by Ceres, on
/// Ceres's own manifolds. Shares no arithmetic with the estimator, except the averages of the
/// recorded controls. Supports both state forms, but no free delays.
///
/// Parameter bounds are not passed on to Ceres: with them Ceres adds a line search that linearizes
/// several times per iteration and stops far from the optimum.
class CeresAutodiffFuruta {
 public:
  static constexpr int kPoseSize = 14;  ///< (r, quaternion) of two bodies

  CeresAutodiffFuruta(const estimator::Mechanism& mechanism, const estimator::TrajectoryData& data,
                      const estimator::TrajectorySettings& settings);

  /// Fixes free parameters at their values.
  void hold(const std::vector<int>& arrow_indices);

  ceres::Solver::Summary solve(const ceres::Solver::Options& options);

  const Eigen::VectorXd& parameter_values() const { return chi_; }

 private:
  int parameter_count() const { return static_cast<int>(chi_.size()); }
  void add_nodes(const estimator::TrajectoryData& data);
  void add_steps();
  void add_observations(const estimator::TrajectoryData& data);
  void add_start();
  void add_priors();

  estimator::Mechanism mechanism_;
  estimator::TrajectorySettings settings_;
  std::vector<int> free_;
  ScalarStep<2, 2> step_;
  Eigen::VectorXd chi_;
  Eigen::VectorXd controls_;
  int node_size_;  ///< poses, and velocities in the full form
  std::vector<std::vector<double>> nodes_;
  std::unique_ptr<ceres::Problem> problem_;
};

}  // namespace test_support
