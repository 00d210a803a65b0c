#pragma once

#include <Eigen/Core>
#include <string_view>
#include <vector>

#include "estimator/optimize/fit_stage.hpp"

namespace estimator {

/// Reason why the solver stopped. Stopping without convergence is a result, not an error: the
/// caller decides whether the parameters are usable.
enum class Termination {
  kGradientTolerance,  ///< the projected, scaled gradient is below its tolerance
  kStepTolerance,      ///< the step is below its tolerance relative to the point
  kCostTolerance,      ///< the relative reduction of the cost is below its tolerance
  /// Steps were rejected until the predicted decrease became negligible. Occurs at the round-off of
  /// the cost and at kinks of the residuals (dry friction), where J is not valid for any step.
  kNoFurtherDecrease,
  kMaxIterations,
  kCancelled,         ///< the caller's stop flag was set
  kNumericalFailure,  ///< no descent at the largest damping, or a non-finite start
};

/// Returns a name such as "gradient tolerance", for messages and files.
std::string_view to_string(Termination termination);

/// Returns true for the three tolerances and kNoFurtherDecrease, after which no measurable
/// improvement is possible.
bool is_converged(Termination termination);

/// Record of an iteration of the solver, for progress output and histories.
struct IterationRecord {
  int iteration = 0;           ///< number of the iteration; 0: the initial point
  double cost = 0.0;           ///< Σ‖r‖² after the iteration
  double step_norm = 0.0;      ///< scaled norm of the accepted step
  double gradient_norm = 0.0;  ///< projected, scaled gradient before the step
  double damping = 0.0;        ///< damping α of the accepted step
  double gain_ratio = 0.0;     ///< actual over predicted decrease of the accepted step
  int rejected = 0;            ///< rejected trial steps within this iteration
  Eigen::VectorXd arrow;       ///< parameter values after the iteration
  /// Number of previous solves and kind of this solve, set by the caller for a sequence of solves.
  int solve = 0;
  SolveKind kind = SolveKind::kFirst;
};

/// Result of a call of `solve`.
struct LmSummary {
  Termination termination = Termination::kNumericalFailure;
  int iterations = 0;
  double initial_cost = 0.0;
  double cost = 0.0;
  std::vector<IterationRecord> history;
};

}  // namespace estimator
