#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <vector>

#include "estimator/assess/identifiability.hpp"
#include "estimator/design/knowledge.hpp"
#include "estimator/design/plan_bench.hpp"
#include "estimator/doctor/signal_examination.hpp"

namespace estimator {

/// A parameter that an experiment is for.
struct DesignTarget {
  int place = 0;        ///< among the free parameters
  double wanted = 0.0;  ///< deviation that counts as one [unit of the parameter], > 0
};

/// What a run must stay within.
struct PlanLimits {
  double command_max = std::numeric_limits<double>::infinity();             ///< magnitude
  double command_slew_per_s_max = std::numeric_limits<double>::infinity();  ///< magnitude
  std::vector<SensorLimits> sensors;                                        ///< one a sensor
};

/// What to design: commands that are sums of given signals.
struct DesignTask {
  Mechanism mechanism;  ///< at today's estimate
  Knowledge knowledge;
  std::vector<DesignTarget> targets;  ///< at least one
  PlanFacts facts;
  PlanLimits limits;
  Eigen::MatrixXd signals;  ///< samples × signals, facts.period apart
};

/// What becomes of a design.
struct Design {
  Eigen::VectorXd amplitudes;  ///< of the signals; empty: no plan stays within the limits
  double worst = std::numeric_limits<double>::infinity();  ///< over targets and draws, as wanted
  /// What plans of this kind can see at all, all that were tried together.
  Uncertainty seen;
};

/// How much work a design may be.
struct DesignEffort {
  int screens = 6;                  ///< batches of plans at random, before the search
  int rounds = 40;                  ///< of the search
  int threads = 1;                  ///< results do not depend on it
  std::function<bool()> over = {};  ///< asked before every batch: whether time is up
};

/// Commands that leave the largest deviation among the targets, each as a multiple of what is
/// wanted, as small as can be: for the estimate and, in the geometric mean, for draws of what is
/// known (METHOD: Σ TᵀT of the plan's sensitivities beside what earlier recordings gave). Plans
/// whose motion comes near a limit, for the estimate or a draw, or whose motion is too sensitive to
/// its start to be predicted, are out of the question.
Design design_plan(const DesignTask& task, const DesignEffort& effort);

/// The command of amplitudes, one a sample: scaled down where its peak exceeds the limit, and
/// held back where it changes too fast (daq::SafetyMonitor).
Eigen::VectorXd limited_command(const DesignTask& task, const Eigen::VectorXd& amplitudes);

/// By how much amplitudes must be scaled for the peak to stay within the limit; at most 1.
double peak_share(const DesignTask& task, const Eigen::VectorXd& amplitudes);

/// How many of so many draws of what is known leave the limits under a command, one a sample.
int count_trips(const DesignTask& task, const Eigen::VectorXd& command, int draws, int threads);

}  // namespace estimator
