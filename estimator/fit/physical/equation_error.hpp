#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/fit/physical/shooting_input.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/least_squares_problem.hpp"
#include "estimator/simulation/tree_program.hpp"

namespace estimator {

/// Low-pass filtered motion in short time windows, at a few instants of each window. Controls and
/// directions are filtered like the readings of their joint, so that they change when the filtered
/// accelerations do.
struct MotionWindows {
  Eigen::MatrixXd angle, rate, acceleration;  ///< joints × instants [rad, rad/s, rad/s²]
  Eigen::MatrixXd direction;                  ///< of motion, joints × instants, −1 to 1
  Eigen::MatrixXd control;                    ///< motors × instants [unit of the control]
  Eigen::VectorXd offsets;                    ///< encoder offsets in the angles [rad]
  std::vector<int> segment;                   ///< segment of each instant, ascending
  std::vector<int> window;                    ///< window of each instant, ascending
  /// Joints × windows: whether the torque balance of the joint is known up to parameters. If the
  /// joint has dry friction, it must move in one direction throughout the window.
  Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic> usable;
  std::vector<std::vector<int>> absent;  ///< absent bodies of each segment
};

/// Selects time windows, distributed evenly over the recordings. Omits windows near gaps of the
/// readings and near the ends of segments, where the low-pass filter of the initial states is
/// inaccurate.
/// @param cutoff  of this filter [Hz]
MotionWindows select_motion_windows(const Mechanism& mechanism, const ShootingInput& input,
                                    double cutoff);

/// The least-squares problem of the equation error of a tree whose joints are all observed. With
/// filtered angles θ, rates ω and accelerations ω̇, the torque imbalance of each joint,
/// r = ρ(θ, ω, ω̇, χ) + σ B, is averaged over each time window. The cost is
///
///   Σ (mean r / σ_τ)² + priors,
///
/// with the standard deviation σ_τ of the imbalance and the filtered direction of motion σ. There
/// are no states. r is affine in gains, stiffnesses, friction coefficients, masses and moments of
/// inertia. Encoder offsets shift the angles.
class EquationErrorProblem final : public LeastSquaresProblem {
 public:
  /// @param mechanism  tree with set-valued friction; its free parameters affect the motion, or are
  ///                   encoder offsets
  /// @param motion     must outlive this object
  EquationErrorProblem(const Mechanism& mechanism, const MotionWindows& motion);

  // LeastSquaresProblem.
  ProblemShape shape() const override { return {0, 1, 0, free_.size()}; }
  int block_count() const override;
  int max_block_rows() const override;
  int noise_group_count() const override { return 2; }
  int thread_count() const override { return 1; }
  void linearize(int index, ResidualBlock& out) const override;
  double cost() const override { return point_.cost; }
  double evaluate_trial_step(const Eigen::VectorXd& node_step,
                             const Eigen::VectorXd& parameter_step) override;
  void accept_trial_step() override;
  void save_point() override { saved_ = point_; }
  void restore_point() override { point_ = saved_; }
  Eigen::VectorXd parameter_values() const override {
    return free_.parameter_values(point_.mechanism);
  }
  Eigen::VectorXd lower_bounds() const override { return free_.lower(point_.mechanism); }
  Eigen::VectorXd upper_bounds() const override { return free_.upper(point_.mechanism); }
  Eigen::VectorXd growth_limits() const override { return free_.growth_limits(point_.mechanism); }

  const Mechanism& mechanism() const { return point_.mechanism; }
  const FreeParameters& free_parameters() const { return free_; }
  /// Returns the number of averaged torque imbalances in the cost.
  int row_count() const { return static_cast<int>(rows_.size()); }

  /// Sets σ_τ of each joint to the scatter of its imbalance at the current point. Windows with a
  /// larger imbalance, such as at impacts, get a smaller weight (Cauchy's).
  void update_weights();

 private:
  struct Iterate {
    Mechanism mechanism;
    Eigen::VectorXd imbalance;  ///< of every window and joint: windows · joints [N·m]
    Eigen::MatrixXd slopes;     ///< derivatives by the free parameters
    double cost = 0.0;
  };

  int joint_count() const { return static_cast<int>(motion_.angle.rows()); }
  void evaluate(Iterate& point, bool with_slopes) const;
  double total_cost(const Iterate& point) const;

  /// A free encoder offset, and the change of the joint coordinates by it.
  struct FreeOffset {
    int position;   ///< in the parameter vector
    double in_use;  ///< in the angles of the motion
    Eigen::VectorXd joints;
  };
  Eigen::VectorXd angle_shift(const Mechanism& mechanism) const;

  FreeParameters free_;
  std::vector<FreeOffset> offsets_;
  ProgramVariants programs_;
  const MotionWindows& motion_;
  std::vector<int> rows_;         ///< elements of `imbalance` in the cost
  Eigen::VectorXd weights_;       ///< of each element of `imbalance`, 1/σ_τ
  Eigen::VectorXd window_share_;  ///< 1/instants of each window
  Iterate point_, candidate_, saved_;
};

}  // namespace estimator
