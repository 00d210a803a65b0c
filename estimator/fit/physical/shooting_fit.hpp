#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/noise_update.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/fit/physical/shooting_input.hpp"
#include "estimator/fit/segment_trajectory.hpp"
#include "estimator/optimize/covariance.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"

namespace estimator {

/// Open-loop error above which the motion counts as unpredictable from its initial state [rad]. A
/// fit of the simulation then does not converge. Possible reasons are a pendulum that passes its
/// upright position, and a wrong model. For prismatic joints, the limit is multiplied by
/// JointUnits::scale.
inline constexpr double kPredictableRmse = 0.5;

/// Duration of simulations with noisy controls, which cannot be predicted for long [s].
inline constexpr double kNoisySimulationHorizon = 1.0;

/// Cost per reading above which a fit with inflated process noise counts as diverged. A converged
/// fit of a wrong model has a lower cost.
inline constexpr double kDivergedErrorRatio = 10.0;

/// The result and progress of several consecutive solves of one fit.
struct ShootingHistory {
  Termination termination = Termination::kNumericalFailure;  ///< result of the last solve
  int iterations = 0;
  int iterations_most = 0;             ///< iteration limit; restarts get another limit of this size
  double cost = 0.0;                   ///< cost after the last solve
  int solve = 0;                       ///< number of the next solve, as in IterationRecord
  SolveKind kind = SolveKind::kFirst;  ///< kind of the next solve
  std::vector<IterationRecord> records;
};

/// Names of the two parts of a fit, for progress reports.
struct FitStages {
  EstimationStage joint = EstimationStage::kJointEstimation;
  EstimationStage simulation = EstimationStage::kSimulationFit;
};

/// Fits states and parameters by multiple shooting in several stages. The number of free parameters
/// may be zero.
class ShootingFit {
 public:
  ShootingFit(ShootingInput input, const CalibrationOptions& options,
              const CalibrationMonitor& monitor, FitStages stages = {});

  const ShootingInput& input() const { return input_; }

  /// Decreases the time between shooting nodes until the motion can be simulated from node to node.
  /// With wrong parameter values, loops may be impossible to close near singular configurations.
  /// @return the cost per reading of the second stage at these values
  /// @throws std::invalid_argument if even a few samples cannot be simulated
  double shorten_node_intervals(const Mechanism& start);

  /// Sets the values to which restarts of `estimate_jointly` reset parameters that reached a bound.
  /// Values outside the bounds are not used. By default, these are the initial values.
  void set_restart_values(const Mechanism& values) { restart_values_ = values; }

  /// Returns the least-squares problem of the second stage at the initial parameter values.
  std::unique_ptr<ShootingProblem> make_second_stage_problem(const Mechanism& mechanism) const;

  /// Runs the joint estimation of states, parameters, and any noise levels that the caller does not
  /// give.
  void estimate_jointly(const Mechanism& start);

  /// Fits the open-loop simulation after the joint estimation. Returns false if this fit diverged
  /// or was omitted, because the options disable it, the motion is unpredictable, recorded controls
  /// have noise, or the caller stopped it.
  bool fit_simulation();

  /// Fits the simulation again from other parameter values, and keeps the result if its cost is
  /// lower. Returns whether the cost is lower.
  bool restart_simulation_fit_from(const Mechanism& values);

  /// Returns the least-squares problem at the result of `estimate_jointly`.
  const ShootingProblem& joint_problem() const { return *joint_; }
  const ShootingHistory& joint_estimation_history() const { return joint_history_; }
  /// Returns whether significant process noise (unmodelled acceleration) remains in a coordinate.
  bool is_process_noise_significant(int coordinate) const;

  /// Returns the problem of the open-loop simulation at the result of `fit_simulation`.
  const ShootingProblem& simulation_problem() const { return *simulation_; }
  const ShootingHistory& simulation_history() const { return simulation_history_; }
  bool is_predictable() const { return predictable_; }
  /// Returns whether the fit of the simulation diverged. The simulation then starts from the states
  /// of the joint estimation.
  bool has_diverged() const { return diverged_; }

  /// Returns the duration after which the simulation restarts from the jointly estimated states
  /// [s]. It is infinite unless recorded controls have noise.
  double simulation_horizon() const {
    return input_.noise.control.size() > 0 ? kNoisySimulationHorizon
                                           : std::numeric_limits<double>::infinity();
  }

  /// Returns the problem whose simulation restarts from the jointly estimated states every
  /// `horizon` seconds, rounded to a multiple of the node interval of the first segment. Its
  /// residuals are the errors of predictions over this time.
  std::unique_ptr<ShootingProblem> make_prediction_problem(const Mechanism& mechanism,
                                                           double horizon) const;

  /// Returns the measured, estimated and simulated joint angles of each segment.
  std::vector<SegmentTrajectory> trajectories() const;

  /// Returns whether the caller has requested that the fit stops.
  bool is_cancelled() const { return is_stop_requested(monitor_); }

 private:
  std::unique_ptr<ShootingProblem> make_relaxed_problem(const Mechanism& mechanism,
                                                        const Excerpt& excerpt, double interval,
                                                        const ShootingNoise& noise) const;
  ShootingNoise inflate_noise(double share, double interval) const;
  void fit_relaxed(const Mechanism& start);
  std::unique_ptr<ShootingProblem> search_initial_values(const Mechanism& start,
                                                         const Excerpt& excerpt);
  bool is_near_solution(const ShootingProblem& problem) const;
  void solve_relaxed(ShootingProblem& problem);
  bool has_ended(const ShootingHistory& history) const;
  std::unique_ptr<ShootingProblem> make_problem(const Mechanism& mechanism,
                                                const ShootingNoise& noise,
                                                const ShootingGrid& grid) const;
  std::unique_ptr<ShootingProblem> make_simulation_problem(const Mechanism& mechanism) const {
    return make_prediction_problem(mechanism, simulation_horizon());
  }
  bool has_significant_process_noise() const;
  std::vector<Mechanism> make_restart_candidates(const Mechanism& reached) const;
  void restart_joint_estimation();
  void repeat_noise_annealing();
  void restart_simulation_fit();
  bool has_simulation_diverged() const;
  bool try_restart(std::unique_ptr<ShootingProblem>& problem,
                   std::unique_ptr<ShootingProblem> again, double decrease,
                   ShootingHistory& history) const;
  LmOptions make_solver_options(const ShootingProblem& problem, double decrease) const;
  void run(ShootingProblem& problem, LmOptions options, ShootingHistory& history) const;
  /// Reports the start of another solve, whose cost is not comparable with the costs of earlier
  /// solves.
  void report_solve(SolveKind kind, const Mechanism& varied, ShootingHistory& history) const;
  void estimate_noise_levels();
  bool update_noise_levels(const ParameterInformation& information, ShootingNoise& noise);

  ShootingInput input_;
  CalibrationOptions options_;
  CalibrationMonitor monitor_;
  FitStages stages_;
  Mechanism start_, restart_values_;
  std::unique_ptr<ShootingProblem> joint_, simulation_;
  ShootingHistory joint_history_, simulation_history_;
  std::vector<ProcessNoiseUpdate> process_noise_updates_;  // by coordinate
  bool predictable_ = false, diverged_ = false;
};

}  // namespace estimator
