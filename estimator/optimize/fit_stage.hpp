#pragma once

namespace estimator {

/// A stage of an estimation.
enum class Stage {
  kJointEstimation,  ///< of parameters, states and noise levels
  kSimulationFit,    ///< fit of the open-loop simulation
  kInitialValues,    ///< joint estimation of physical parameters, to start shadow parameters from
  kStateEstimation,  ///< joint estimation with fixed parameters
  kInitialStates,    ///< simulation fit with fixed parameters
  kPartComparison,   ///< comparison of segments
  kMisfitCauses,     ///< search for the causes of a misfit
};

/// One of several solves of a stage. Their costs are not comparable.
enum class SolveKind {
  kFirst,
  kInflatedNoise,       ///< with inflated sensor noise
  kShortSegments,       ///< over short segments
  kAfterShortSegments,  ///< from the result over short segments
  kAllFromExcerpt,      ///< all samples, from the result of an excerpt
  kAllFromStart,        ///< all samples, from the initial values
  kStickingFriction,    ///< with dry friction that can stick
  kNewNoise,            ///< with re-estimated noise levels
  kFinalNoise,
  kRestart,
  kShorterSteps,
  kAnnealedAgain,     ///< with the initial process noise
  kSmoothedFriction,  ///< with smoothed dry friction
  kRigFriction,       ///< with the rig's friction
};

/// A solve of an estimation, for progress reports.
struct FitStage {
  Stage stage = Stage::kJointEstimation;
  SolveKind solve = SolveKind::kFirst;

  bool operator==(const FitStage&) const = default;
};

}  // namespace estimator
