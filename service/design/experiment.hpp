#pragma once

#include <Eigen/Core>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "estimator/design/design.hpp"
#include "estimator/design/prior_information.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "service/design/plan_shape.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Precision that an experiment should reach for a parameter.
struct Precision {
  std::string name;
  int index = 0;           ///< index of the parameter in the mechanism's parameters
  double deviation = 0.0;  ///< standard deviation [unit of the parameter]; 0: as small as possible
};

/// Parses requested precisions of parameters: "NAME", "NAME:0.002" (in the parameter's unit) or
/// "NAME:2%".
/// @param option  name of the command-line option, for messages
/// @throws proto::InputError for a parameter that the rig does not have or that is not free, an
///         invalid precision, or a percentage of zero
std::vector<Precision> parse_precisions(const std::string& option,
                                        const std::vector<std::string>& texts,
                                        estimator::Mechanism& mechanism);

/// Returns the default targets of an experiment: all free parameters, as precise as possible. Omits
/// parameters for which a relative precision is meaningless: those with value zero, angles, and
/// encoder offsets, because the zero of these is arbitrary.
std::vector<Precision> default_precisions(const estimator::Mechanism& mechanism);

/// Converts requested precisions to design targets, which refer to indices among the free
/// parameters.
std::vector<estimator::DesignTarget> design_targets(const std::vector<Precision>& precisions,
                                                    const estimator::Mechanism& mechanism);

/// Information about a rig before its next experiment.
struct PriorState {
  Rig rig;  ///< rig with values and free parameters of the last result
  estimator::PriorInformation knowledge;
  /// Standard deviations of the free parameters from the last result or from priors; infinite for a
  /// parameter without information.
  Eigen::VectorXd deviations;
  std::vector<estimator::Recording> recordings;  ///< recordings of the last result, if readable
  bool is_estimated = false;  ///< false: values are the rig file's and may be far off
  Eigen::VectorXd noise;      ///< standard deviation of each encoder's noise [rad or m]
  Eigen::VectorXd quantum;    ///< one count if quantization dominates the noise, else 0 [rad or m]
  std::vector<std::string> notes;
};

/// Loads the information about a rig before its next experiment.
/// @param rig_path  the rig file
/// @param result    file written by `rigcal calibrate --json`; empty: use only the rig file
/// @param values    result file that provides only values, if `result` is empty; if both are empty,
/// the values are the rig file's
/// @throws proto::InputError for an invalid file, and for a result of another rig
PriorState load_prior_state(const std::string& rig_path, const std::string& result,
                            const std::string& values = "");

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
};

/// Designs the command that gives the most information about the targets within the rig's limits,
/// and predicts the resulting standard deviations.
/// @param today  prior state of the rig
/// @param where  path of the scenario file, for messages
/// @throws proto::InputError if there is no motor, no command limit, a target that no command makes
///         identifiable, or no plan within the limits
Experiment design_experiment(const PriorState& today, const ExperimentRequest& request,
                             const std::string& where);

/// Returns a text table of the free parameters of an experiment: standard deviations before and
/// after, targets, and whether each requested precision is predicted to be reached.
std::string format_experiment(const Experiment& experiment);

}  // namespace service
