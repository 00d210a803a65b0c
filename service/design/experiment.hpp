#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "service/design/plan_shape.hpp"
#include "service/design/precision.hpp"
#include "service/design/today.hpp"

namespace service {

/// What an experiment is to be like.
struct ExperimentRequest {
  std::vector<Precision> targets = {};  ///< none: the usual ones
  double duration = 20.0;               ///< [s]
  double rate = 1000.0;                 ///< samples a second [Hz]
  std::string motor = {};               ///< joint; empty: the only one
  double command_max = 0.0;             ///< [unit of the control]; 0: as the rig allows
  std::vector<std::string> at = {};     ///< "JOINT=VALUE": where it stands at the start [rad or m]
  std::optional<PlanKind> kind = {};    ///< unset: the better one
  double caution = 1.0;                 ///< share of the rig's limits of motion that is used
  int threads = 1;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const std::string&)> progress = {};  ///< told now and then what is done
};

/// One free parameter before and after.
struct PlannedParameter {
  std::string name;
  std::string unit;
  double value = 0.0;
  double before = 0.0;  ///< deviation; infinite: nothing is known
  double after = 0.0;   ///< as predicted; infinite: still nothing
  bool is_target = false;
  double asked = 0.0;  ///< deviation; 0: as small as can be
};

/// A run that is worth making.
struct Experiment {
  PlanKind kind = PlanKind::kMultisine;
  std::string scenario;  ///< file's text (proto/scenario.proto)
  std::vector<PlannedParameter> parameters;
  int draws = 0;  ///< of what is known, none of which leaves the rig's limits
  bool cancelled = false;
  std::vector<std::string> notes;

  /// Whether every target that was asked for with a precision will have it.
  bool reaches() const;
};

/// Finds the command that tells most about the targets within the rig's limits, and predicts what
/// they will be known to.
/// @param where  file that the scenario is meant for, for messages
/// @throws proto::InputError where there is no motor, no limit of the command, a target that no
///         command can tell, or no plan that stays within the limits
Experiment design_experiment(const Today& today, const ExperimentRequest& request,
                             const std::string& where);

}  // namespace service
