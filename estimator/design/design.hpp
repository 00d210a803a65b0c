#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/design/plan_evaluator.hpp"
#include "estimator/design/prior_information.hpp"
#include "estimator/diagnostics/signal/signal_examination.hpp"

namespace estimator {

inline constexpr int kPlansOfBatch = 16;  ///< plans simulated at once: the number of SIMD lanes
inline constexpr int kValuesOfPlan = 4;   ///< parameter values for which a search simulates a plan

/// A parameter whose uncertainty the designed experiment should reduce.
struct DesignTarget {
  int place = 0;        ///< position of the parameter among the free parameters
  double wanted = 0.0;  ///< target standard deviation [unit of the parameter], > 0
};

/// The limits on command and sensor readings in the designed run.
struct PlanLimits {
  double command_max = std::numeric_limits<double>::infinity();             ///< magnitude
  double command_slew_per_s_max = std::numeric_limits<double>::infinity();  ///< magnitude
  std::vector<SensorLimits> sensors;                                        ///< one per sensor
};

/// A feedback control law with a few adjustable gains. Its functions must be thread-safe.
struct FeedbackLaw {
  /// Computes the motor command at a sample [unit of the control].
  /// @param time    time since the start of the run [s]
  /// @param joints  joint coordinates [rad or m]; `rates` are their derivatives [rad/s or m/s]
  std::function<double(const Eigen::VectorXd& gains, double time, const Eigen::VectorXd& joints,
                       const Eigen::VectorXd& rates)>
      command;
  /// Returns the largest magnitude of the command [unit of the control].
  std::function<double(const Eigen::VectorXd& gains)> command_max;
  std::function<Eigen::VectorXd(std::mt19937_64&)> draw;  ///< draws random initial gains
};

/// The task of designing an experiment. The command is a weighted sum of given signals, plus the
/// command of a feedback law. A plan consists of the amplitudes of the signals and the gains of the
/// law.
struct DesignTask {
  Mechanism mechanism;  ///< rig with the current parameter estimates
  PriorInformation knowledge;
  std::vector<DesignTarget> targets;  ///< at least one target
  PlanSettings facts;
  PlanLimits limits;
  Eigen::MatrixXd signals;  ///< samples × signals; no columns if the feedback law alone commands
  std::optional<FeedbackLaw> law;
};

/// The result of an experiment design.
struct ExperimentDesign {
  Eigen::VectorXd plan;  ///< amplitudes, then gains; empty if no plan satisfies the limits
  /// Largest ratio of a standard deviation to its target, averaged over random parameter values.
  double worst = std::numeric_limits<double>::infinity();
  /// Predicted uncertainty of the parameters after recording all evaluated plans.
  ParameterUncertainty seen;
};

/// Limits on the computing effort of an experiment design.
struct DesignComputingLimits {
  int screens = 6;                  ///< batches of random plans before the search
  int rounds = 40;                  ///< iterations of the search
  int threads = 1;                  ///< number of threads; does not affect the result
  std::function<bool()> over = {};  ///< called before every batch; returns whether to stop
  /// Largest ratio of a standard deviation to its target at which the search ends early; 0: never.
  double enough = 0.0;
};

/// Designs the experiment that minimises the largest ratio of a parameter's standard deviation to
/// its target. Ratios are geometric means over several sets of parameter values: the estimate and
/// random sets from the prior information. The information of a plan is Σ TᵀT for the sensitivities
/// T of its readings, plus the information of earlier recordings. Rejects plans whose motion comes
/// near a limit, is smaller than three counts, or is too sensitive to its initial state to be
/// predicted.
ExperimentDesign optimize_experiment_plan(const DesignTask& task,
                                          const DesignComputingLimits& effort);

/// Computes the commands of plans, samples × plans. Sums of signals are scaled down so that the
/// total command, with the feedback law, stays within the limit. The slew rate of all commands is
/// limited as by daq::SafetyMonitor.
/// @param plans  plans to compute, one per column
Eigen::MatrixXd compute_limited_commands(const DesignTask& task, const PlanEvaluator& bench,
                                         const Mechanism& values, const Eigen::MatrixXd& plans);

/// Returns whether a plan is likely to succeed on the rig. For all of `draws` random parameter
/// values from the prior information, its motion must satisfy the limits and exceed three counts.
/// Nearly all of these motions must be predictable.
bool is_reliable_plan(const DesignTask& task, const Eigen::VectorXd& plan, int draws, int threads);

}  // namespace estimator
