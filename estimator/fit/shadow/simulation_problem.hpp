#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/fit/shadow/trajectory_problem.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/placement.hpp"
#include "estimator/optimize/least_squares_problem.hpp"
#include "estimator/spook/step_residual.hpp"

namespace estimator {

/// The least-squares problem of fitting an open-loop SPOOK simulation to the observed angles y_k
/// (output error). The cost is
///
///   Σ (θ(x_k(x_1, χ)) − offset − y_k)² + parameter priors.
///
/// Unknowns are the parameters χ and the state x_1 of each segment at node 1. This is the joint
/// estimation [Mar, eq. 3.15] for an infinite state error weight κ: simulation eliminates all later
/// states. A large finite κ would prevent long steps of the solver.
///
/// The unknowns of a segment are minimal: displacements of configuration and velocity in the null
/// space of the constraint Jacobian at x_1, 2·(degrees of freedom). Sensitivities follow from the
/// linearized step, dw = −(∂r/∂w)⁻¹ (∂r/∂q dq + ∂r/∂v dv + ∂r/∂χ dχ), for the configuration q, the
/// velocities v and w before and after the step, and the impulse residual r.
class SimulationProblem final : public LeastSquaresProblem {
 public:
  /// @param mechanism  mechanism with the initial values of the parameters
  /// @param data       segments resampled to the time step; their initial configurations are not
  /// used
  /// @param initial    state at node 1 of each segment
  /// @param angle_noise  factor on prior residuals, see FreeParameters [rad]
  SimulationProblem(const Mechanism& mechanism, const std::vector<TrajectoryData>& data,
                    const std::vector<State>& initial, const StepSettings& settings,
                    double angle_noise = 1.0);

  // LeastSquaresProblem.
  ProblemShape shape() const override;
  int block_count() const override;
  int max_block_rows() const override { return max_rows_; }
  int noise_group_count() const override { return encoder_count() + 1; }
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

  const Mechanism& mechanism() const { return point_.mechanism; }

  /// Returns the simulated encoder readings of a segment, nodes × encoders, not wrapped. Row 0 is
  /// NaN because the simulation starts at node 1. All rows after a failed time step are NaN.
  const Eigen::MatrixXd& simulated_angles(int segment) const { return point_.simulated[segment]; }

  /// Returns the initial state of a segment's simulation, which is the state at node 1.
  const State& initial_state(int segment) const { return point_.initial[segment]; }

  /// Returns the number of fitted readings of an encoder.
  int observation_count(int sensor) const;

  /// Returns the sum of the squared reading errors of an encoder over all segments [rad²].
  double squared_error(int sensor) const;

  int encoder_count() const { return static_cast<int>(sensors_.size()); }

 private:
  /// Derivatives of a segment's simulated readings: one matrix per encoder, nodes × (node unknowns,
  /// then parameters).
  using SegmentSensitivity = std::vector<Eigen::MatrixXd>;
  struct Iterate {
    Mechanism mechanism;
    std::vector<State> initial;
    std::vector<StepControlTable> controls;
    std::vector<Eigen::MatrixXd> simulated;
    double cost = 0.0;
    std::vector<Eigen::MatrixXd> bases;  ///< initial_state_basis of each segment
    /// Sensitivities of each segment. They are always complete, because several threads may
    /// linearize at the same time.
    std::shared_ptr<const std::vector<SegmentSensitivity>> sensitivities;
  };

  void simulate(Iterate& point) const;
  double sensor_cost(const Iterate& point, int segment, int sensor) const;
  double angle_residual(const Iterate& point, int segment, int node, int sensor) const;
  /// Returns a basis of the displacements of the initial state that satisfy the constraints:
  /// 12·bodies × 2·degrees of freedom.
  Eigen::MatrixXd initial_state_basis(int segment) const;
  void move_initial_state(const State& from, const Eigen::MatrixXd& basis,
                          const Eigen::Ref<const Eigen::VectorXd>& step, const Mechanism& mechanism,
                          State& to) const;
  void prepare_linearization();
  SegmentSensitivity compute_segment_sensitivity(int segment) const;
  void store_angle_sensitivities(const State& state, const Eigen::MatrixXd& S, int node,
                                 SegmentSensitivity& out) const;

  std::vector<TrajectoryData> data_;
  StepSettings settings_;
  FreeParameters free_;
  int body_count_;
  std::vector<Encoder> sensors_;
  int max_rows_ = 0;
  int node_size_ = 0;
  Iterate point_, candidate_, saved_;
};

}  // namespace estimator
