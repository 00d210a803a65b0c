#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <vector>

namespace estimator {

/// Why the solver stopped. Not converging is a result, not an error: the caller decides whether
/// the parameters are still usable.
enum class Termination {
  kGradientTolerance,  ///< the projected, scaled gradient is below its tolerance
  kStepTolerance,      ///< the step is below its tolerance relative to the point
  kCostTolerance,      ///< the relative reduction of the cost is below its tolerance
  /// Steps were rejected until the predicted decrease became negligible. Happens at the rounding of
  /// the cost and on kinks of the residuals (dry friction), where no step does what J promises.
  kNoFurtherDecrease,
  kMaxIterations,
  kCancelled,         ///< the caller's stop flag was set
  kNumericalFailure,  ///< no descent at the largest damping, or a non-finite start
};

/// "gradient tolerance", … for people and files.
std::string_view to_string(Termination termination);

/// True for the three tolerances and kNoFurtherDecrease: the point cannot be improved measurably.
bool is_converged(Termination termination);

/// State after one iteration, for progress lines and histories.
struct IterationRecord {
  int iteration = 0;           ///< 0: the start
  double cost = 0.0;           ///< Σ‖r‖² after the iteration
  double step_norm = 0.0;      ///< scaled norm of the accepted step
  double gradient_norm = 0.0;  ///< projected, scaled gradient where it began
  double damping = 0.0;        ///< α used
  double gain_ratio = 0.0;     ///< actual over predicted decrease of the accepted step
  int rejected = 0;            ///< rejected trial steps within this iteration
  Eigen::VectorXd arrow;       ///< parameter values after the iteration
  /// In a sequence of solves: how many were before, and what its own differs in from the first;
  /// set by whoever runs them.
  int solve = 0;
  std::string stage = {};
};

/// Outcome of a solve.
struct LmSummary {
  Termination termination = Termination::kNumericalFailure;
  int iterations = 0;
  double initial_cost = 0.0;
  double cost = 0.0;
  std::vector<IterationRecord> history;
};

}  // namespace estimator
