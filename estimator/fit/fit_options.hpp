#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string_view>

#include "estimator/model/inertia_parameterization.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/lm_summary.hpp"
#include "estimator/spook/residual_form.hpp"

namespace estimator {

/// Unknowns per time step.
enum class StateForm {
  kConfigurations,  ///< configurations only, velocities by differences: half the unknowns
  kFull,            ///< configurations and velocities, as in [Mar]
};

/// System whose parameters are estimated.
enum class EstimateKind {
  kPhysical,  ///< the physical system, in continuous time
  /// A SPOOK simulator with the given time step, whose discretization error the estimates absorb:
  /// the "shadow" parameters of [Mar], valid for that simulator only.
  kShadow,
};

/// Options of a calibration. The defaults suit any rig; zero means "choose from the data".
struct CalibrationOptions {
  /// Unset: physical if the mechanism is a tree and no option that only a SPOOK simulator has (κ,
  /// ε, τ, ε_w, residual form, state form, start_from_physical) is set, else shadow.
  std::optional<EstimateKind> kind;
  /// h [s]. Shadow: multiple or integer fraction of the sampling period. Physical: longest
  /// integration step.
  double step = 0.0;
  /// Physical: root spectral density of the unmodelled acceleration (process noise) [rad/s²/√Hz];
  /// 0: estimated from the data.
  double acceleration_noise = 0.0;
  double state_error_weight = 0.0;    ///< κ: weight of impulse to angle residuals; 0: automatic
  double compliance = -1.0;           ///< ε for all joint rows; negative: the mechanism's own
  double damping_time = -1.0;         ///< τ for all joint rows [s]; negative: the mechanism's own
  double weighting_compliance = 0.0;  ///< ε_w of the implicit form; 0: automatic
  ResidualForm residual_form = ResidualForm::kImplicit;
  StateForm state_form = StateForm::kConfigurations;
  double filter_cutoff = 10.0;  ///< low pass for initial states, raised for fast motion [Hz]
  int max_iterations = 100;     ///< of the joint estimation, and of the simulation fit
  /// After the joint fit, refines parameters and initial states by fitting the open-loop simulation
  /// to the angles (SimulationProblem), if the motion is predictable.
  bool refine_simulation = true;
  /// Shadow parameters of a tree: start from estimated physical parameters, which converge from any
  /// initial values, instead of from the mechanism's values.
  bool start_from_physical = true;
  /// Reject outliers, split segments at lost samples, free encoder offsets at lost counts.
  bool repair = true;
  /// Physical: test whether segments of the recordings agree, and if not, inflate standard
  /// deviations according to their scatter.
  bool compare_parts = true;
  /// Physical: parameterization of inertias that are estimated as a whole.
  InertiaParameterization inertia_parameterization = InertiaParameterization::kLogCholesky;
};

/// Callbacks of a running calibration, called on the calling thread.
struct CalibrationMonitor {
  int threads = 1;  ///< for physical parameters; estimates do not depend on it
  /// Stage name ("joint estimation", "simulation fit", …), and the mechanism being varied.
  std::function<void(std::string_view, const Mechanism&)> on_stage;
  std::function<void(const IterationRecord&)> on_iteration;
  const std::atomic<bool>* stop = nullptr;  ///< polled once per iteration
};

/// Whether the caller has requested a stop.
inline bool is_stopped(const CalibrationMonitor& monitor) {
  return monitor.stop != nullptr && monitor.stop->load(std::memory_order_relaxed);
}

}  // namespace estimator
