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

/// States per time step that a shadow calibration estimates.
enum class StateForm {
  kConfigurations,  ///< configurations; velocities are their differences, which halves the unknowns
  kFull,            ///< configurations and velocities, as in [Mar]
};

/// System to which the estimated parameters apply.
enum class EstimateKind {
  kPhysical,  ///< the physical system, in continuous time
  /// A SPOOK simulator with the given time step. The estimates absorb its discretization error:
  /// they are "shadow" parameters [Mar], valid only for this simulator and step.
  kShadow,
};

/// Options of a calibration. The defaults suit any rig; zero usually means "choose from the data".
/// kOptionRows lists all of them.
struct CalibrationOptions {
  /// System to which the parameters apply. If unset: physical for a tree, unless an option that
  /// only a SPOOK simulator has (κ, ε, τ, ε_w, residual form, state form, start_from_physical) is
  /// set; otherwise shadow.
  std::optional<EstimateKind> kind;
  /// Time step h [s]. For shadow parameters, a multiple or integer fraction of the sampling period.
  /// For physical parameters, the longest integration step.
  double step = 0.0;
  /// For physical parameters, the root spectral density of the unmodelled acceleration (process
  /// noise) [rad/s²/√Hz]; 0: estimated from the data.
  double acceleration_noise = 0.0;
  double state_error_weight = 0.0;  ///< weight κ of impulse residuals; 0: automatic
  double compliance = -1.0;         ///< ε of all joint constraints; negative: as in mechanism
  double damping_time = -1.0;       ///< τ of all joint constraints [s]; negative: as in mechanism
  double weighting_compliance = 0.0;  ///< ε_w of the implicit residual form; 0: automatic
  ResidualForm residual_form = ResidualForm::kImplicit;
  StateForm state_form = StateForm::kConfigurations;
  double filter_cutoff = 10.0;  ///< low pass for initial states, raised for fast motion [Hz]
  /// Iteration limit of the joint estimation, and of the simulation fit.
  int max_iterations = 100;
  /// For physical parameters, the largest number of successful restarts of a fit that may have
  /// ended in a local minimum.
  int restarts = 4;
  /// Whether to refine parameters and initial states after the joint estimation by fitting the
  /// open-loop simulation to the angles (SimulationProblem). Requires a predictable motion.
  bool refine_simulation = true;
  /// Whether shadow parameters of a tree start from estimated physical parameters instead of the
  /// mechanism's values. Physical parameters converge from any initial values.
  bool start_from_physical = true;
  /// Whether to reject outliers, split segments at lost samples and free encoder offsets at lost
  /// counts.
  bool repair = true;
  /// Whether to test, for physical parameters, that the segments of the recordings agree. If they
  /// do not, standard deviations are inflated according to the scatter between segments.
  bool compare_parts = true;
  /// For physical parameters, the parameterization of inertias that are estimated as a whole.
  InertiaParameterization inertia_parameterization = InertiaParameterization::kLogCholesky;
};

/// Range of a numeric option. The default of an option may be outside; it then means "automatic".
struct OptionRange {
  double min = 0.0;
  double max = std::numeric_limits<double>::infinity();
};
inline constexpr OptionRange kPositive = {std::numeric_limits<double>::min()};

/// Words of an option that is an enumeration, in the order of its enumerators.
struct EnumOption {
  std::span<const std::string_view> words;
  int (*get)(const CalibrationOptions&);  ///< index of the word; −1 if the option is unset
  void (*set)(CalibrationOptions&, int index);
};

/// Section of the help that lists an option.
enum class OptionGroup { kGeneral, kMethod, kSimulator };

/// The only statement of an option: command line, messages, Python, reports and reference pages are
/// made from it.
struct OptionRow {
  /// Name on the command line, without "--". A flag switches its member to the opposite of the
  /// default. Python uses underscores and omits "no-".
  std::string_view name;
  std::string_view key;  ///< name in JSON and in messages
  std::variant<double CalibrationOptions::*, int CalibrationOptions::*, bool CalibrationOptions::*,
               EnumOption>
      member;
  std::string_view unit = "";
  OptionRange range = {};
  OptionGroup group = OptionGroup::kGeneral;
  /// The unit is inserted behind the first clause. An option without help has no name of its own on
  /// the command line and in Python.
  std::string_view help = "";

  bool is_flag() const { return std::holds_alternative<bool CalibrationOptions::*>(member); }
  bool is_enumeration() const { return std::holds_alternative<EnumOption>(member); }
};

/// Returns the value of an option with all digits: "10", "implicit", "true"; empty if it is unset.
std::string format_option(const OptionRow& row, const CalibrationOptions& options);

/// Sets an option. Returns false, without a change, if the text is not a value in its range.
bool set_option(const OptionRow& row, std::string_view text, CalibrationOptions& options);

/// Return whether an option has its default value, and whether a user could give its value.
bool is_default(const OptionRow& row, const CalibrationOptions& options);
bool is_in_range(const OptionRow& row, const CalibrationOptions& options);

/// Returns the values of an option for messages: "a number > 0 [Hz]", "explicit or implicit".
std::string describe_option_values(const OptionRow& row);

inline constexpr std::string_view kKindWords[] = {"physical", "shadow"};
inline constexpr std::string_view kResidualWords[] = {"explicit", "implicit"};
inline constexpr std::string_view kStateWords[] = {"configurations", "full"};
inline constexpr std::string_view kInertiaWords[] = {"log-cholesky", "exponential-eigenvalue",
                                                     "entries"};

/// Returns the row entry for an enumeration.
template <typename Enum, Enum CalibrationOptions::*kMember>
constexpr EnumOption make_enum_option(std::span<const std::string_view> words) {
  return {words,
          [](const CalibrationOptions& options) { return static_cast<int>(options.*kMember); },
          [](CalibrationOptions& options, int i) { options.*kMember = static_cast<Enum>(i); }};
}

// clang-format off
/// The options in the order of their members. To add an option, add its member and its row here,
/// and its help text to kOptionHelp of service/options.
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
    {"states", "states", make_enum_option<StateForm, &CalibrationOptions::state_form>(kStateWords), "",
     {}, OptionGroup::kSimulator},
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

/// Callbacks of a running calibration, called on the calling thread.
struct CalibrationMonitor {
  int threads = 1;  ///< threads for physical parameters; same results for any
  /// Receives each new stage or solve of a stage, and its mechanism.
  std::function<void(const FitStage&, const Mechanism&)> on_stage;
  std::function<void(const IterationRecord&)> on_iteration;
  const std::atomic<bool>* stop = nullptr;  ///< request to stop, polled once per iteration
};

/// Returns whether the caller has requested a stop.
inline bool is_stop_requested(const CalibrationMonitor& monitor) {
  return monitor.stop != nullptr && monitor.stop->load(std::memory_order_relaxed);
}

}  // namespace estimator
