#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "estimator/assess/identifiability.hpp"
#include "estimator/design/plan_evaluator.hpp"
#include "estimator/design/prior_information.hpp"
#include "estimator/diagnostics/signal_examination.hpp"

namespace estimator {

/// A parameter whose uncertainty an experiment should reduce.
struct DesignTarget {
  int place = 0;        ///< position among the free parameters
  double wanted = 0.0;  ///< target standard deviation [unit of the parameter], > 0
};

/// Limits of a run.
struct PlanLimits {
  double command_max = std::numeric_limits<double>::infinity();             ///< magnitude
  double command_slew_per_s_max = std::numeric_limits<double>::infinity();  ///< magnitude
  std::vector<SensorLimits> sensors;                                        ///< one per sensor
};

/// A feedback law with a few parameters of order 1, which form its plan.
struct FeedbackLaw {
  /// Returns the command at a sample [unit of the control]. Called concurrently for several
  /// motions.
  /// @param time    since the start of the run [s]
  /// @param joints  joint coordinates [rad or m], rates: theirs [rad/s or m/s]
  std::function<double(const Eigen::VectorXd& plan, double time, const Eigen::VectorXd& joints,
                       const Eigen::VectorXd& rates)>
      command;
  std::function<Eigen::VectorXd(std::mt19937_64&)> draw;  ///< a random initial plan
  Eigen::Index samples = 0;                               ///< per run
};

/// Design task: optimise the amplitudes of given signals, or the parameters of a feedback law.
struct DesignTask {
  Mechanism mechanism;  ///< at the current estimate
  PriorInformation knowledge;
  std::vector<DesignTarget> targets;  ///< at least one
  PlanSettings facts;
  PlanLimits limits;
  Eigen::MatrixXd signals;  ///< samples × signals, facts.period apart; empty: use the law
  std::optional<FeedbackLaw> law;
};

/// Result of a design.
struct Design {
  Eigen::VectorXd plan;  ///< amplitudes or law parameters; empty: none satisfies the limits
  double worst = std::numeric_limits<double>::infinity();  ///< max ratio to targets, mean of draws
  /// Identifiability from all plans tried together.
  Uncertainty seen;
};

/// Limits of the design effort.
struct DesignEffort {
  int screens = 6;                  ///< batches of random plans before the search
  int rounds = 40;                  ///< iterations of the search
  int threads = 1;                  ///< the result does not depend on it
  std::function<bool()> over = {};  ///< called before every batch: whether time is up
};

/// Designs the plan that minimises the largest ratio of a parameter's standard deviation to its
/// target: the geometric mean over the estimate and random draws from the prior information
/// (METHOD: Σ TᵀT of the plan's sensitivities plus the information of earlier recordings). Rejects
/// plans whose motion comes near a limit for the estimate or a draw, or is too sensitive to its
/// initial state to be predicted.
Design design_plan(const DesignTask& task, const DesignEffort& effort);

/// Returns the commands of plans on a mechanism, samples × plans. Sums of signals are scaled down
/// to the peak limit, and all commands are slew-rate limited (daq::SafetyMonitor).
/// @param plans  one per column
Eigen::MatrixXd limited_commands(const DesignTask& task, const PlanEvaluator& bench,
                                 const Mechanism& values, const Eigen::MatrixXd& plans);

/// Returns whether, with a plan, all of `draws` random draws from the prior information stay within
/// the limits and nearly all motions are predictable.
bool is_reliable(const DesignTask& task, const Eigen::VectorXd& plan, int draws, int threads);

}  // namespace estimator
