#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <optional>
#include <random>
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

/// Commands that depend on the motion, each by a few numbers of the order of 1: its plan.
struct FeedbackLaw {
  /// At a sample [unit of the control]; asked for several motions at once.
  /// @param time    since the run began [s]
  /// @param joints  where all joints are [rad or m], rates: theirs [rad/s or m/s]
  std::function<double(const Eigen::VectorXd& plan, double time, const Eigen::VectorXd& joints,
                       const Eigen::VectorXd& rates)>
      command;
  std::function<Eigen::VectorXd(std::mt19937_64&)> draw;  ///< a plan to begin with
  Eigen::Index samples = 0;                               ///< of a run
};

/// What to design: commands that are sums of given signals, or that follow a law.
struct DesignTask {
  Mechanism mechanism;  ///< at today's estimate
  Knowledge knowledge;
  std::vector<DesignTarget> targets;  ///< at least one
  PlanFacts facts;
  PlanLimits limits;
  Eigen::MatrixXd signals;  ///< samples × signals, facts.period apart; empty: there is a law
  std::optional<FeedbackLaw> law;
};

/// What becomes of a design.
struct Design {
  Eigen::VectorXd plan;  ///< amplitudes of the signals or numbers of the law; empty: no plan stays
                         ///< within the limits
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

/// Commands of plans on a mechanism, samples × plans: sums of signals are scaled down where their
/// peak exceeds the limit, and all are held back where they change too fast (daq::SafetyMonitor).
/// @param plans  one a column
Eigen::MatrixXd limited_commands(const DesignTask& task, const PlanBench& bench,
                                 const Mechanism& values, const Eigen::MatrixXd& plans);

/// Whether with a plan every one of so many draws of what is known stays within the limits, and
/// nearly all of them move so that they can be predicted.
bool is_reliable(const DesignTask& task, const Eigen::VectorXd& plan, int draws, int threads);

}  // namespace estimator
