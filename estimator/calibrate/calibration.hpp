#pragma once

#include <Eigen/Core>
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "estimator/calibrate/trajectory_problem.hpp"
#include "estimator/dynamics/step_residual.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/lm_summary.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Choices of a calibration. The defaults serve any rig; zero means "choose from the data".
struct CalibrationOptions {
  double step = 0.0;                  ///< h [s]: whole multiple or fraction of the sampling period
  double state_error_weight = 0.0;    ///< κ: weight of impulse against angle residuals; 0: chosen
  double compliance = -1.0;           ///< ε for all hinge rows; negative: the mechanism's own
  double damping_time = -1.0;         ///< τ for all hinge rows [s]; negative: the mechanism's own
  double weighting_compliance = 0.0;  ///< ε_w of the implicit form; 0: chosen
  ResidualForm residual_form = ResidualForm::kImplicit;
  StateForm state_form = StateForm::kConfigurations;
  double filter_cutoff = 10.0;  ///< low-pass for initial states [Hz]
  int max_iterations = 50;
  /// After the joint fit, refine parameters and initial states so that the open-loop simulation
  /// itself fits the angles best (SimulationProblem), where the motion can be predicted at all.
  bool refine_simulation = true;
};

/// Outcome for one parameter.
struct ParameterEstimate {
  std::string name;
  std::string unit;
  double value = 0.0;
  double standard_deviation = 0.0;  ///< infinite where the data cannot see it
  double initial = 0.0;
  double lower = 0.0;
  double upper = 0.0;
  bool at_bound = false;
};

/// A direction in parameter space that the data cannot see, in words and numbers.
struct NullDirection {
  std::string description;       ///< e.g. "1.J_shaft and A.J_zz trade off as 1 : −1"
  Eigen::VectorXd coefficients;  ///< one per free parameter, in units of that parameter
};

/// Measured and simulated trajectories of one segment, on the grid of the step.
struct SegmentTrajectory {
  std::string recording;
  double start = 0.0;         ///< [s]
  double step = 0.0;          ///< [s]
  Eigen::MatrixXd measured;   ///< nodes × sensors [rad]; NaN where not observed
  Eigen::MatrixXd estimated;  ///< nodes × sensors [rad], from the estimated states
  Eigen::MatrixXd simulated;  ///< nodes × sensors [rad], open loop from the estimated start
  Eigen::MatrixXd control;    ///< nodes × motors, mean over the step
};

/// Open-loop error of one hinge over all fitted segments.
struct SimulationError {
  std::string hinge;
  double rmse = 0.0;  ///< [rad]
};

/// Result of a calibration.
struct Calibration {
  std::vector<ParameterEstimate> parameters;  ///< the free ones
  Eigen::MatrixXd covariance;                 ///< free × free
  Eigen::MatrixXd correlation;                ///< free × free
  std::vector<NullDirection> null_directions;
  std::vector<SimulationError> simulation;
  std::vector<SegmentTrajectory> trajectories;
  Mechanism mechanism;              ///< with the estimated values in place
  double cost = 0.0;                ///< Σ‖r‖² at the optimum
  double observation_rmse = 0.0;    ///< of the estimated states [rad]
  double step = 0.0;                ///< h used [s]
  double state_error_weight = 0.0;  ///< κ used
  Termination termination = Termination::kNumericalFailure;
  int iterations = 0;
  std::vector<IterationRecord> history;
  bool refined = false;  ///< the estimates are those of the simulation's refinement; termination,
                         ///< iterations, history, cost above remain those of the joint estimation
  Termination refinement_termination = Termination::kNumericalFailure;
  int refinement_iterations = 0;
  std::vector<IterationRecord> refinement_history;  ///< costs: Σ of squared angle errors; twice
                                                    ///< where smoothed friction went before
  /// Whether the stage that the estimates come from converged.
  bool converged() const { return is_converged(refined ? refinement_termination : termination); }
  std::vector<std::string> notes;  ///< what was chosen, dropped or suspicious, for people
};

/// What a caller may hook into a running calibration. Called on the calling thread.
struct CalibrationMonitor {
  std::function<void(std::string_view)> on_stage;  ///< "joint estimation", "simulation fit"
  std::function<void(const IterationRecord&)> on_iteration;
  const std::atomic<bool>* stop = nullptr;  ///< polled once per iteration
};

/// Estimates the free parameters of `mechanism` and the states of all recordings jointly.
///
/// @throws std::invalid_argument naming the recording or parameter and what to do, when the input
///         cannot be used: no free parameter, too few samples, a parameter without effect, …
Calibration calibrate(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                      const CalibrationOptions& options = {},
                      const CalibrationMonitor& monitor = {});

}  // namespace estimator
