#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "tests/studies/arm/arm_simulation.hpp"

namespace service {

/// Shooting problem of an arm with a shooting node at every sample and with additional energy
/// observations [MTM, eqs. 62–71]. From one node to the next, the change of energy plus the
/// friction loss must equal the work of the recorded controls û along the recorded angles θ̂,
///
///   T(x_{k+1}) − T(x_k) + ∫ v·τ_f dt = Σ_j K_j û_j (θ̂_j(k+1) − θ̂_j(k)),
///
/// which is exact for zero-order-hold controls. The weight is the inverse variance of the right
/// side from the noise of û and θ̂, treated as independent of the readings.
class EnergyObservedProblem final : public estimator::LeastSquaresProblem {
 public:
  /// @param geometry  joints and gravity of the arm; other values come from the problem
  /// @param noise     standard deviation of angles [rad] and controls [N·m]
  EnergyObservedProblem(estimator::ShootingProblem problem, const Arm& geometry, const ArmRun& run,
                        double noise);

  const estimator::ShootingProblem& inner() const { return problem_; }

  // LeastSquaresProblem.
  estimator::ProblemShape shape() const override { return problem_.shape(); }
  int block_count() const override { return static_cast<int>(order_.size()); }
  int max_block_rows() const override { return problem_.max_block_rows(); }
  int noise_group_count() const override { return problem_.noise_group_count() + 1; }
  int thread_count() const override { return problem_.thread_count(); }
  void linearize(int index, estimator::ResidualBlock& out) const override;
  double cost() const override { return problem_.cost() + point_.cost; }
  double evaluate_trial_step(const Eigen::VectorXd& node_step,
                             const Eigen::VectorXd& parameter_step) override;
  void accept_trial_step() override;
  void save_point() override;
  void restore_point() override;
  Eigen::VectorXd parameter_values() const override { return problem_.parameter_values(); }
  Eigen::VectorXd lower_bounds() const override { return problem_.lower_bounds(); }
  Eigen::VectorXd upper_bounds() const override { return problem_.upper_bounds(); }

 private:
  struct Iterate {
    Arm arm;  ///< arm with the parameter values of the mechanism
    estimator::Mechanism mechanism;
    Eigen::MatrixXd states;  ///< 2·joints × nodes
    double cost = 0.0;
  };

  void copy_parameter_values(Iterate& point) const;
  double total_cost(const Iterate& point) const;
  double residual(const Iterate& point, Eigen::Index node) const;
  double deviation(Eigen::Index node) const;
  void update_sensitivities();
  void make_order();

  estimator::ShootingProblem problem_;
  estimator::FreeParameters free_;
  ArmRun run_;
  double noise_;
  Iterate point_, candidate_, saved_;
  std::vector<int> order_;  ///< indices of the problem's blocks, or −1 − node for energies
  Eigen::MatrixXd standard_sensitivities_;  ///< derivatives of standard by free parameters
};

}  // namespace service
