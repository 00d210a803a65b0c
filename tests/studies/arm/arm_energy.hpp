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
  estimator::ArrowLayout layout() const override { return problem_.layout(); }
  int block_count() const override { return static_cast<int>(order_.size()); }
  int max_block_rows() const override { return problem_.max_block_rows(); }
  int group_count() const override { return problem_.group_count() + 1; }
  int threads() const override { return problem_.threads(); }
  void linearize(int index, estimator::ResidualBlock& out) const override;
  double cost() const override { return problem_.cost() + point_.cost; }
  double evaluate_candidate(const Eigen::VectorXd& node_step,
                            const Eigen::VectorXd& arrow_step) override;
  void accept_candidate() override;
  void mark() override;
  void restore() override;
  Eigen::VectorXd arrow() const override { return problem_.arrow(); }
  Eigen::VectorXd arrow_lower() const override { return problem_.arrow_lower(); }
  Eigen::VectorXd arrow_upper() const override { return problem_.arrow_upper(); }

 private:
  struct Point {
    Arm arm;  ///< arm with the parameter values of the mechanism
    estimator::Mechanism mechanism;
    Eigen::MatrixXd states;  ///< 2·joints × nodes
    double cost = 0.0;
  };

  void copy_parameter_values(Point& point) const;
  double total_cost(const Point& point) const;
  double residual(const Point& point, Eigen::Index node) const;
  double deviation(Eigen::Index node) const;
  void update_sensitivities();
  void make_order();

  estimator::ShootingProblem problem_;
  estimator::FreeParameters free_;
  ArmRun run_;
  double noise_;
  Point point_, candidate_, marked_;
  std::vector<int> order_;  ///< indices of the problem's blocks, or −1 − node for energies
  Eigen::MatrixXd standard_sensitivities_;  ///< derivatives of standard by free parameters
};

}  // namespace service
