#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/free_parameters.hpp"
#include "estimator/fit/shadow/trajectory_data.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/placement.hpp"
#include "estimator/optimize/least_squares_problem.hpp"
#include "estimator/signal/time_series.hpp"
#include "estimator/spook/step_residual.hpp"

namespace estimator {

/// Settings of a TrajectoryProblem, the joint estimation of shadow parameters and states.
struct TrajectorySettings {
  StepSettings step;
  StateForm state_form = StateForm::kConfigurations;
  double state_error_weight = 100.0;  ///< κ > 0: weight of squared impulse residuals
  double angle_noise = 1.0;           ///< factor on prior residuals, see FreeParameters [rad]
};

/// The least-squares problem of estimating parameters and the states x_k at all time steps (nodes
/// k) together from readings y_k [Mar, eq. 3.15]. For a SPOOK simulator with impulse residuals r_k,
/// the cost is
///
///   Σ κ ‖r_k‖² + Σ (θ(x_k) − offset − y_k)² + initial constraint rows + parameter priors.
///
/// A node holds either a configuration q_k (6 tangent dimensions per body), with the velocity v_k =
/// (q_k ⊟ q_{k−1})/h, or configuration and velocity (12 per body) with the residuals Δp_u and Δp_q
/// of [Mar]. Every segment is a separate chain of nodes; parameters are shared.
///
/// Controls are averaged over one time step, centred at each node (make_step_controls).
class TrajectoryProblem final : public LeastSquaresProblem {
 public:
  /// @param mechanism  mechanism with initial values of the free parameters
  /// @param data       one entry per segment, each with at least 3 nodes
  TrajectoryProblem(const Mechanism& mechanism, const std::vector<TrajectoryData>& data,
                    const TrajectorySettings& settings);

  // LeastSquaresProblem.
  ProblemShape shape() const override;
  int block_count() const override { return static_cast<int>(blocks_.size()); }
  int max_block_rows() const override;
  int noise_group_count() const override { return impulse_noise_group() + 3; }
  int thread_count() const override { return 1; }
  void linearize(int index, ResidualBlock& out) const override;
  double cost() const override { return current_cost_; }
  double evaluate_trial_step(const Eigen::VectorXd& node_step,
                             const Eigen::VectorXd& parameter_step) override;
  void accept_trial_step() override;
  void save_point() override { saved_ = point_; }
  void restore_point() override;
  Eigen::VectorXd parameter_values() const override {
    return free_.parameter_values(point_.mechanism);
  }
  Eigen::VectorXd lower_bounds() const override { return free_.lower(point_.mechanism); }
  Eigen::VectorXd upper_bounds() const override { return free_.upper(point_.mechanism); }

  /// Returns the index of the noise group of the impulse residuals. The groups before this group
  /// are the encoders. The two groups after it are the initial constraints and the priors.
  int impulse_noise_group() const { return static_cast<int>(sensors_.size()); }

  /// Returns the mechanism with the current parameter values.
  const Mechanism& mechanism() const { return point_.mechanism; }

  /// Returns the state at node 1 of a segment, the first node with a velocity. If all residuals are
  /// zero, the open-loop simulation from this state reproduces the fitted trajectory.
  State state_after_first_step(int segment) const;

  /// Returns the predicted encoder readings of a segment, nodes × encoders, in the range (−π, π].
  Eigen::MatrixXd predicted_angles(int segment) const;

  /// Returns the mean controls of all time steps of a segment, nodes × motors.
  Eigen::MatrixXd step_controls(int segment) const;

  int segment_count() const { return static_cast<int>(segments_.size()); }
  double step() const { return settings_.step.step; }

 private:
  enum class ResidualBlockKind : unsigned char { kObservation, kImpulse, kInitial, kPrior };
  struct ResidualBlockId {
    ResidualBlockKind kind;
    int node;    ///< first node of the block
    int detail;  ///< sensor of an observation, otherwise the segment
  };
  struct Segment {
    int first_node;
    int node_count;
    Eigen::MatrixXd raw_controls;  ///< recorded controls, samples × motors
    double period;                 ///< sampling period of the raw controls [s]
  };
  /// Values of all unknowns: poses at every node, velocities for full states, and parameters.
  struct Iterate {
    std::vector<Pose> poses;      ///< poses of all bodies of node 0, then of node 1, …
    Eigen::VectorXd velocities;   ///< full states only: 6·bodies per node
    Eigen::VectorXd differences;  ///< (q_{k+1} ⊟ q_k)/h, 6·bodies per node; unused at last nodes
    Mechanism mechanism;
    std::vector<StepControlTable> controls;  ///< controls of each segment; depend on the delay
  };

  void make_residual_blocks(const std::vector<TrajectoryData>& data);
  void update_controls(Iterate& point) const;
  double total_cost(const Iterate& point, const StepResidual& residual) const;
  double impulse_cost(const Iterate& point, const StepResidual& residual, int segment) const;
  double observation_cost(const Iterate& point, int segment) const;

  const Pose* node_poses(const Iterate& point, int node) const {
    return point.poses.data() + static_cast<std::size_t>(node * body_count_);
  }
  /// Returns the velocity (q_{node+1} ⊟ q_node)/h between two nodes of a segment, 6·bodies.
  const double* difference_velocity(const Iterate& point, int node) const {
    return point.differences.data() + static_cast<Eigen::Index>(6 * body_count_) * node;
  }
  void update_difference_velocities(Iterate& point) const;
  /// Returns the predicted reading of an encoder at a node.
  double predict_reading(const Iterate& point, int node, const Encoder& sensor) const;
  double observation_residual(const Iterate& point, int node, int sensor) const;
  /// Computes the weighted constraint violations at the first two nodes of a segment. For full
  /// states, the violation by the first node's velocity replaces the second one.
  void compute_initial_constraint_residual(const Iterate& point, int segment,
                                           Eigen::VectorXd& residual) const;

  void linearize_observation(const ResidualBlockId& block, ResidualBlock& out) const;
  void linearize_impulse(const ResidualBlockId& block, ResidualBlock& out) const;
  void linearize_full_impulse(const ResidualBlockId& block, ResidualBlock& out) const;
  void linearize_initial_constraints(const ResidualBlockId& block, ResidualBlock& out) const;
  void add_initial_point_constraints(const ResidualBlockId& block, double scale,
                                     ResidualBlock& out) const;

  TrajectorySettings settings_;
  int body_count_;
  FreeParameters free_;
  int node_size_;
  std::vector<Encoder> sensors_;
  std::vector<Segment> segments_;
  std::vector<ResidualBlockId> blocks_;
  Eigen::MatrixXd angles_;       ///< observed readings, all nodes × sensors
  Eigen::VectorXd row_inertia_;  ///< inertia of each constraint row, for initial rows
  bool delay_free_ = false;
  Iterate point_, candidate_, saved_;
  std::unique_ptr<StepResidual> residual_;            ///< residual at the current parameters
  std::unique_ptr<StepResidual> candidate_residual_;  ///< residual at the candidate's parameters
  double current_cost_ = 0.0;
  double candidate_cost_ = 0.0;
};

}  // namespace estimator
