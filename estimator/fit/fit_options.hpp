#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "estimator/model/inertia/inertia_parameterization.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"
#include "estimator/spook/residual_form.hpp"

namespace estimator {

/// The states that a calibration of shadow parameters (of a SPOOK simulator) estimates at each time
/// step.
enum class StateForm {
  kConfigurations,  ///< configurations; velocities are their differences, which halves the unknowns
  kFull,            ///< configurations and velocities, as in [Mar]
};

/// The system that the estimated parameters describe.
enum class EstimateKind {
  kPhysical,  ///< the physical system, in continuous time
  /// A SPOOK simulator with the given time step. The estimates compensate for its discretization
  /// error: they are "shadow" parameters [Mar], valid only for this simulator and time step.
  kShadow,
};

/// The options of a calibration. The defaults suit any rig. Zero usually means that the value is
/// chosen from the data. kOptionRows lists all options.
struct CalibrationOptions {
  /// Kind of the estimated parameters. If unset, physical parameters, with two exceptions: shadow
  /// parameters are estimated if an option of SPOOK simulators (OptionGroup::kSimulator) is set, or
  /// if a mechanism with closed loops has load-proportional friction.
  std::optional<EstimateKind> kind;
  /// Time step h [s]. For shadow parameters of a SPOOK simulator, a multiple or integer fraction of
  /// the sampling period. For physical parameters, the longest integration step.
  double step = 0.0;
  /// For physical parameters, the root spectral density of the unmodelled acceleration (process
  /// noise) [rad/s²/√Hz]. 0: it is estimated from the data.
  double acceleration_noise = 0.0;
  double state_error_weight = 0.0;  ///< weight κ of impulse residuals; 0: automatic
  double compliance = -1.0;         ///< ε of all joint constraints; negative: not overridden
  double damping_time = -1.0;       ///< τ of all joint constraints [s]; negative: not overridden
  double weighting_compliance = 0.0;  ///< ε_w of the implicit residual form; 0: automatic
  ResidualForm residual_form = ResidualForm::kImplicit;
  StateForm state_form = StateForm::kConfigurations;
  /// Whether to estimate only by linear regression of inverse dynamics (calibrate_linear).
  bool linear = false;
  double filter_cutoff = 10.0;  ///< low-pass cutoff for initial states, raised for fast motion [Hz]
  /// Largest number of solver iterations, for each of the two fits: the joint estimation of
  /// parameters and states, and the fit of the open-loop simulation.
  int max_iterations = 100;
  /// For physical parameters, the largest number of restarts, which may leave a local minimum.
  int restarts = 4;
  /// Whether to refine parameters and initial states after the joint estimation, by a fit of the
  /// open-loop simulation to the readings. Requires a predictable motion.
  bool refine_simulation = true;
  /// Whether the estimation of shadow parameters of a tree starts from estimated physical
  /// parameters, which converge from any initial values. If false, it starts from the values of the
  /// mechanism.
  bool start_from_physical = true;
  /// Whether to repair recordings: reject outliers, split segments at lost samples, and estimate
  /// the jump of an encoder that lost counts.
  bool repair = true;
  /// Whether to test, for physical parameters, that estimates from parts of the recordings agree.
  /// If they do not, standard deviations are inflated according to the scatter between the parts.
  bool compare_parts = true;
  /// For physical parameters, the parameterization of inertias that are estimated as a whole.
  InertiaParameterization inertia_parameterization = InertiaParameterization::kLogCholesky;
};

/// The range of a numeric option. A default outside this range means "automatic".
struct OptionRange {
  double min = 0.0;
  double max = std::numeric_limits<double>::infinity();
};
inline constexpr OptionRange kPositive = {std::numeric_limits<double>::min()};

/// An option whose value is one of several words, in the order of the enumerators.
struct EnumOption {
  std::span<const std::string_view> words;
  int (*get)(const CalibrationOptions&);  ///< index of the word; −1 if the option is unset
  void (*set)(CalibrationOptions&, int index);
};

/// The section of the help text in which an option is listed.
enum class OptionGroup { kGeneral, kMethod, kSimulator };

/// The definition of a calibration option, from which command line, messages, Python, reports and
/// reference pages are generated.
struct OptionRow {
  /// Name on the command line, without "--". A flag sets `member` to the opposite of its default:
  /// "no-..." sets it to false. In Python the name has underscores and no prefix "no-".
  std::string_view name;
  std::string_view key;  ///< name in JSON and in messages
  std::variant<double CalibrationOptions::*, int CalibrationOptions::*, bool CalibrationOptions::*,
               EnumOption>
      member;
  std::string_view unit = "";
  OptionRange range = {};
  OptionGroup group = OptionGroup::kGeneral;

  bool is_flag() const { return std::holds_alternative<bool CalibrationOptions::*>(member); }
  bool is_enumeration() const { return std::holds_alternative<EnumOption>(member); }
};

/// Returns the value of an option as text with all digits, such as "10", "implicit" or "true";
/// empty if the option is unset.
std::string format_option(const OptionRow& row, const CalibrationOptions& options);

/// Sets an option to the value in `text`. Returns false and changes nothing if the text is not a
/// valid value.
bool set_option(const OptionRow& row, std::string_view text, CalibrationOptions& options);

/// Return whether the value of an option is the default, and whether it is in the range of values
/// that users may choose.
bool has_default_value(const OptionRow& row, const CalibrationOptions& options);
bool is_in_range(const OptionRow& row, const CalibrationOptions& options);

/// Returns a description of the valid values of an option for messages, such as "a number > 0 [Hz]"
/// or "explicit or implicit".
std::string describe_option_values(const OptionRow& row);

inline constexpr std::string_view kKindWords[] = {"physical", "shadow"};
inline constexpr std::string_view kResidualWords[] = {"explicit", "implicit"};
inline constexpr std::string_view kStateWords[] = {"configurations", "full"};
inline constexpr std::string_view kInertiaWords[] = {"log-cholesky", "exponential-eigenvalue",
                                                     "entries"};

/// Returns the table entry of an option whose value is one of several words.
template <typename Enum, Enum CalibrationOptions::*kMember>
constexpr EnumOption make_enum_option(std::span<const std::string_view> words) {
  return {words,
          [](const CalibrationOptions& options) { return static_cast<int>(options.*kMember); },
          [](CalibrationOptions& options, int i) { options.*kMember = static_cast<Enum>(i); }};
}

// clang-format off
/// All calibration options in the order of the members of CalibrationOptions. To add one, add
/// its member and its row here, and its help text to kOptionHelp of service/options.
inline constexpr OptionRow kOptionRows[] = {
    {"parameters", "parameters", EnumOption{kKindWords,
        [](const CalibrationOptions& o) { return o.kind ? static_cast<int>(*o.kind) : -1; },
        [](CalibrationOptions& o, int index) { o.kind = static_cast<EstimateKind>(index); }}},
    {"step", "stepS", &CalibrationOptions::step, "s", {1e-7, 1.0}, OptionGroup::kMethod},
    {"acceleration-noise", "accelerationNoise", &CalibrationOptions::acceleration_noise,
     "rad/s²/√Hz", kPositive, OptionGroup::kMethod},
    {"state-error-weight", "stateErrorWeight", &CalibrationOptions::state_error_weight, "",
     kPositive, OptionGroup::kSimulator},
    {"compliance", "compliance", &CalibrationOptions::compliance, "m/N, rad/(N·m)", {},
     OptionGroup::kSimulator},
    {"damping-time", "dampingTimeS", &CalibrationOptions::damping_time, "s", {},
     OptionGroup::kSimulator},
    {"weighting-compliance", "weightingCompliance", &CalibrationOptions::weighting_compliance, "",
     {}, OptionGroup::kSimulator},
    {"residual", "residual",
     make_enum_option<ResidualForm, &CalibrationOptions::residual_form>(kResidualWords), "", {},
     OptionGroup::kSimulator},
    {"states", "states", make_enum_option<StateForm, &CalibrationOptions::state_form>(kStateWords),
     "", {}, OptionGroup::kSimulator},
    {"linear", "linear", &CalibrationOptions::linear, "", {}, OptionGroup::kMethod},
    {"filter-cutoff", "filterCutoffHz", &CalibrationOptions::filter_cutoff, "Hz", kPositive,
     OptionGroup::kMethod},
    {"max-iterations", "maxIterations", &CalibrationOptions::max_iterations, "", {1, 100'000},
     OptionGroup::kMethod},
    {"restarts", "restarts", &CalibrationOptions::restarts, "", {0, 100}, OptionGroup::kMethod},
    {"no-refine", "refineSimulation", &CalibrationOptions::refine_simulation, "", {},
     OptionGroup::kMethod},
    {"no-start-from-physical", "startFromPhysical", &CalibrationOptions::start_from_physical, "",
     {}, OptionGroup::kSimulator},
    {"as-is", "repair", &CalibrationOptions::repair},
    {"compare-parts", "compareParts", &CalibrationOptions::compare_parts},
    {"inertias", "inertias",
     make_enum_option<InertiaParameterization, &CalibrationOptions::inertia_parameterization>(
         kInertiaWords), "", {}, OptionGroup::kMethod}};
// clang-format on

/// Callbacks and stop flag of a running calibration. Callbacks are called on the calling thread.
struct CalibrationMonitor {
  int threads = 1;  ///< threads for physical parameters; results do not depend on it
  /// Called at the start of each estimation stage and of each solve, with the current mechanism.
  std::function<void(const FitStage&, const Mechanism&)> on_stage;
  std::function<void(const IterationRecord&)> on_iteration;
  const std::atomic<bool>* stop = nullptr;  ///< request to stop, polled once per iteration
};

/// Returns whether the caller has requested that the calibration stops.
inline bool is_stop_requested(const CalibrationMonitor& monitor) {
  return monitor.stop != nullptr && monitor.stop->load(std::memory_order_relaxed);
}

}  // namespace estimator
