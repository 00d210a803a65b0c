#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string_view>

#include "estimator/model/inertia_chart.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/lm_summary.hpp"
#include "estimator/spook/residual_form.hpp"

namespace estimator {

/// Unknowns per time step.
enum class StateForm {
  kConfigurations,  ///< configurations only, velocities by differences: half the unknowns
  kFull,            ///< configurations and velocities, as in the paper
};

/// What the parameters are parameters of.
enum class EstimateKind {
  kPhysical,  ///< the system itself, in continuous time
  /// A SPOOK simulator at the time step, whose discretisation the estimates absorb: the paper's
  /// "shadow" parameters, the right ones for that simulator and for no other
  kShadow,
};

/// Choices of a calibration. The defaults serve any rig; zero means "choose from the data".
struct CalibrationOptions {
  /// Unset: physical where the mechanism is a tree and none of the choices below that only a SPOOK
  /// simulator has (κ, ε, τ, ε_w, residual form, state form, approach) is made, else shadow.
  std::optional<EstimateKind> kind;
  /// h [s]. Shadow: whole multiple or fraction of the sampling period. Physical: longest step of
  /// the integration.
  double step = 0.0;
  /// Physical: root spectral density of the acceleration that the model leaves unexplained
  /// [rad/s²/√Hz]; 0: found from the data.
  double acceleration_noise = 0.0;
  double state_error_weight = 0.0;    ///< κ: weight of impulse against angle residuals; 0: chosen
  double compliance = -1.0;           ///< ε for all hinge rows; negative: the mechanism's own
  double damping_time = -1.0;         ///< τ for all hinge rows [s]; negative: the mechanism's own
  double weighting_compliance = 0.0;  ///< ε_w of the implicit form; 0: chosen
  ResidualForm residual_form = ResidualForm::kImplicit;
  StateForm state_form = StateForm::kConfigurations;
  double filter_cutoff = 10.0;  ///< low-pass for initial states, raised for fast motion [Hz]
  int max_iterations = 100;     ///< of the joint estimation, and of the simulation fit
  /// After the joint fit, refine parameters and initial states so that the open-loop simulation
  /// itself fits the angles best (SimulationProblem), where the motion can be predicted at all.
  bool refine_simulation = true;
  /// Shadow parameters of a tree: begin at the physical ones, which are found from any start,
  /// instead of at the mechanism's values.
  bool approach = true;
  /// Hold back outliers, cut at lost time, free an encoder's offset where it slips.
  bool repair = true;
  /// Physical: let pieces of the recordings tell whether they agree, and widen deviations by their
  /// scatter where they do not.
  bool compare_pieces = true;
  /// Physical: how inertias that are free as a whole are estimated.
  InertiaChart inertia_chart = InertiaChart::kLogCholesky;
};

/// What a caller may hook into a running calibration. Called on the calling thread.
struct CalibrationMonitor {
  int threads = 1;  ///< that physical parameters are estimated with; estimates do not depend on it
  /// "joint estimation", "simulation fit", …, and the mechanism whose free parameters it varies.
  std::function<void(std::string_view, const Mechanism&)> on_stage;
  std::function<void(const IterationRecord&)> on_iteration;
  const std::atomic<bool>* stop = nullptr;  ///< polled once per iteration
};

/// Whether the caller wants it to end.
inline bool is_stopped(const CalibrationMonitor& monitor) {
  return monitor.stop != nullptr && monitor.stop->load(std::memory_order_relaxed);
}

}  // namespace estimator
