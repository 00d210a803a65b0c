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
#include "proto/text/input_error.hpp"
#include "service/design/plan_shape.hpp"
#include "service/options/calibration_request.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Standard deviation that an experiment should reach for a parameter.
struct TargetPrecision {
  std::string name;
  int index = 0;           ///< index of the parameter in the mechanism's parameters
  double deviation = 0.0;  ///< standard deviation [unit of the parameter]; 0: as small as possible
};

/// Parses the precisions that an experiment should reach for parameters. A text is "NAME",
/// "NAME:0.002" (standard deviation in the parameter's unit) or "NAME:2%".
/// @param option  name of the command-line option, for messages
/// @throws proto::InputError for a parameter that the rig does not have or that is not free, an
///         invalid precision, or a percentage of zero or of a bound
/// @param mechanism  mechanism with the current values
/// @param in_file    mechanism with the values of the rig file. A percentage refers to them if the
///                   current value is at a bound
std::vector<TargetPrecision> parse_target_precisions(const std::string& option,
                                                     const std::vector<std::string>& texts,
                                                     estimator::Mechanism& mechanism,
                                                     const estimator::Mechanism& in_file);

/// Returns whether a parameter's value is at one of its bounds. Such a value does not indicate the
/// size of the parameter.
bool is_at_bound(const estimator::Parameter& parameter);

/// Returns the default targets of an experiment: all free parameters, as precise as possible.
/// Angles, encoder offsets and parameters that are zero or at a bound are omitted, because a
/// relative precision is meaningless for them.
std::vector<TargetPrecision> default_target_precisions(const estimator::Mechanism& mechanism);

/// Converts requested precisions to targets of the experiment design. A target refers to a
/// parameter by its index among the free parameters.
std::vector<estimator::DesignTarget> make_design_targets(
    const std::vector<TargetPrecision>& precisions, const estimator::Mechanism& mechanism);

/// Returns a sentence without full stop about an identifiable target for which no run can be
/// designed, because the standard deviations of the parameters are too large.
/// @param rig_path  the rig file, which has the limits
std::string describe_uncertain_target(const TargetPrecision& target, const std::string& rig_path);

/// Returns a sentence without full stop about a target that no command of a motor makes
/// identifiable. It lists the parameters whose effects cannot be separated from the target's.
/// @param motor      name of the driven joint
/// @param seen       uncertainty after various commands
/// @param mechanism  mechanism with the free parameters of `seen`
std::string describe_unidentifiable(const TargetPrecision& target, const std::string& motor,
                                    const estimator::ParameterUncertainty& seen,
                                    const estimator::Mechanism& mechanism);

/// Input of an experiment design: rig, prior information about its parameters, and noise levels.
struct DesignInput {
  Rig rig;  ///< rig with values and free parameters of the last result
  estimator::PriorInformation knowledge;
  /// Standard deviations of the free parameters before the experiment; infinite without prior
  /// information.
  Eigen::VectorXd deviations;
  std::vector<estimator::Recording> recordings;  ///< recordings of the last result, if readable
  /// Whether a calibration result gives values and standard deviations. Without it, the values of
  /// the rig file may be very wrong.
  bool is_estimated = false;
  /// Files of `recordings`, if a result lists them in addition to parameter values.
  std::vector<RecordingSource> sources = {};
  Eigen::VectorXd noise;    ///< standard deviation of each encoder's noise [rad or m]
  Eigen::VectorXd quantum;  ///< one count if quantization dominates the noise, else 0 [rad or m]
  std::vector<std::string> notes;
};

/// Loads the input of an experiment design from a rig file and the result of a calibration.
/// @param rig_path  the rig file
/// @param result    file written by `rigcal calibrate --json`; empty: use only the rig file
/// @param values    result file that provides parameter values and their covariance but no
///                  recordings, if `result` is empty
/// @throws proto::InputError for an invalid file, and for a result of another rig
DesignInput load_design_input(const std::string& rig_path, const std::string& result,
                              const std::string& values = "");

/// Adds the recordings of a result to a design input that has only the values of this result. The
/// next calibration then uses these recordings together with new ones, so that the information of
/// the result is neither lost nor approximated. Adds a note instead if a recording cannot be read,
/// or if the result lists none.
/// @param rig_path  the rig file of the design
/// @param values    the result file
void add_result_recordings(const std::string& rig_path, const std::string& values,
                           DesignInput& input);

/// Requirements for the experiment to design, such as duration, motor and target precisions.
struct ExperimentRequest {
  std::vector<TargetPrecision> targets = {};  ///< targets; empty: default_target_precisions
  double duration = 20.0;                     ///< [s]
  double rate = 1000.0;                       ///< sampling rate [Hz]
  /// Name of the driven joint; empty: the only driven joint.
  std::string motor = {};
  double command_max = 0.0;          ///< largest command [unit of the control]; 0: the rig's limit
  std::vector<std::string> at = {};  ///< initial joint coordinates, "JOINT=VALUE" [rad or m]
  std::optional<CommandKind> kind = {};  ///< kind of plan; unset: the best kind
  double limit_share = 1.0;              ///< usable share of the rig's motion limits
  /// Budget of the search [s]: the total duration of simulated motion, counted once for each joint
  /// and summed over all kinds of plan. Two cores simulate the default in about half a minute. With
  /// a limit on computing time instead, the plan would depend on the machine and its load.
  double search_motion = 3e5;
  int threads = 1;
  const std::atomic<bool>* stop = nullptr;
  std::string target_option = "--for";    ///< option of the targets, for messages
  std::string result_option = "--after";  ///< option of a calibration result, for messages
  std::function<void(const std::string&)> progress = {};  ///< called with messages
};

/// Standard deviation of a free parameter before and after a designed experiment.
struct ExperimentPrecision {
  std::string name;
  std::string unit;
  double value = 0.0;
  double before = 0.0;  ///< standard deviation; infinite: no information
  double after = 0.0;   ///< predicted standard deviation; infinite: no information
  bool is_at_bound = false;  ///< the value is at a bound; a percentage of it is meaningless
  bool is_target = false;
  double asked = 0.0;  ///< requested standard deviation; 0: as small as possible
};

/// Designed experiment as a scenario file, with the predicted precision of the parameters.
struct DesignedExperiment {
  CommandKind kind = CommandKind::kMultisine;
  std::string scenario;  ///< text of the scenario file (proto/scenario.proto)
  std::vector<ExperimentPrecision> parameters;
  int draws = 0;  ///< number of simulated parameter samples, all within the rig's limits
  bool cancelled = false;
  std::vector<std::string> notes;
};

/// Exception that is thrown if the best experiment would not measure the requested parameters. The
/// message contains the reason and remedies.
class InfeasibleExperiment : public proto::InputError {
 public:
  using proto::InputError::InputError;
};

/// Exception that is thrown if the standard deviations of the parameters are too large to design an
/// experiment. With smaller standard deviations, a design may be possible.
class UncertainExperiment : public InfeasibleExperiment {
 public:
  using InfeasibleExperiment::InfeasibleExperiment;
};

/// Designs the motor command that gives the most information about the target parameters within the
/// rig's limits, and predicts the standard deviations of the parameters.
/// @param where  path of the scenario file, for messages
/// @throws InfeasibleExperiment if no plan stays within the limits, if no command makes a target
///         identifiable, or if the best plan leaves a target's standard deviation above its value
/// @throws proto::InputError if there is no motor or no command limit
DesignedExperiment design_experiment(const DesignInput& input, const ExperimentRequest& request,
                                     const std::string& where);

/// Returns a text table of the free parameters: standard deviations before and after the
/// experiment, requested precisions, and whether the experiment will probably reach them.
std::string format_experiment(const DesignedExperiment& experiment);

/// Returns the requested initial joint coordinates; NaN for joints without a request.
/// @param texts  values of the option --at
/// @throws proto::InputError for a text other than JOINT=VALUE
Eigen::VectorXd read_initial_coordinates(const std::vector<std::string>& texts,
                                         const estimator::Mechanism& mechanism);

}  // namespace service
