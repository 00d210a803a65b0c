#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "service/design/plan_shape.hpp"
#include "service/design/precision.hpp"
#include "service/design/prior_state.hpp"

namespace service {

/// Requirements for an experiment that is to be designed.
struct ExperimentRequest {
  std::vector<Precision> targets = {};  ///< targets; empty: default_precisions
  double duration = 20.0;               ///< [s]
  double rate = 1000.0;                 ///< sampling rate [Hz]
  std::string motor = {};               ///< name of the driven joint; empty: the only one
  double command_max = 0.0;           ///< largest command [unit of the control]; 0: the rig's limit
  std::vector<std::string> at = {};   ///< initial joint coordinates, "JOINT=VALUE" [rad or m]
  std::optional<PlanKind> kind = {};  ///< kind of plan; unset: the best kind
  double limit_share = 1.0;           ///< usable share of the rig's motion limits
  int threads = 1;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const std::string&)> progress = {};  ///< called with messages
};

/// Uncertainty of a free parameter before and after the planned experiment.
struct PlannedParameter {
  std::string name;
  std::string unit;
  double value = 0.0;
  double before = 0.0;  ///< standard deviation; infinite: no information
  double after = 0.0;   ///< predicted standard deviation; infinite: no information
  bool is_target = false;
  double asked = 0.0;  ///< requested standard deviation; 0: as small as possible
};

/// Experiment that rigcal has designed, with its predicted precision.
struct Experiment {
  PlanKind kind = PlanKind::kMultisine;
  std::string scenario;  ///< text of the scenario file (proto/scenario.proto)
  std::vector<PlannedParameter> parameters;
  int draws = 0;  ///< number of simulated parameter samples; all stay within the rig's limits
  bool cancelled = false;
  std::vector<std::string> notes;

  /// Returns whether the experiment is predicted to reach all requested precisions.
  bool reaches_targets() const;
};

/// Designs the command that gives the most information about the targets within the rig's limits,
/// and predicts the resulting standard deviations.
/// @param today  prior state of the rig
/// @param where  path of the scenario file, for messages
/// @throws proto::InputError if there is no motor, no command limit, a target that no command makes
///         identifiable, or no plan within the limits
Experiment design_experiment(const PriorState& today, const ExperimentRequest& request,
                             const std::string& where);

}  // namespace service
