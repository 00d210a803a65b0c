#pragma once

#include <Eigen/Core>
#include <atomic>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// A stage of an estimation.
enum class EstimationStage {
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
  EstimationStage stage = EstimationStage::kJointEstimation;
  SolveKind solve = SolveKind::kFirst;

  bool operator==(const FitStage&) const = default;
};

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
  Eigen::VectorXd parameters;  ///< parameter values after the iteration
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

/// Stopping criteria and damping of `solve`, for residuals r with H = JᵀJ and D = diag(H).
struct LmOptions {
  int max_iterations = 50;

  /// Stop if |g_i| ≤ gradient_tolerance · ‖r‖ √D_ii for every unknown that is not at a bound. This
  /// limits the cosine between the residual r and the unknown's column of J.
  double gradient_tolerance = 1e-12;

  /// Stop if no node moves by more than step_tolerance (tangent coordinates: rad, m, m/s, rad/s)
  /// and the parameter step satisfies ‖δ_χ‖_D ≤ step_tolerance ‖χ‖_D.
  double step_tolerance = 1e-8;

  /// Stop if predicted and actual decrease are both below cost_tolerance · cost. The last step is
  /// still accepted, so the remaining error is of second order: with 1e5 residuals, a decrease of
  /// 1e-10 moves no parameter by more than 0.003 standard deviations.
  double cost_tolerance = 1e-10;

  /// Stop if a rejected step predicted a decrease below negligible_decrease · cost, whatever its
  /// damping. An undamped step decreases the cost by c²·cost for a cosine c as in
  /// gradient_tolerance, so c² ≤ (1 + α) negligible_decrease: the gradient is not zero, but
  /// following it is useless. Otherwise the solver would take ever smaller steps along kinks of the
  /// residuals.
  double negligible_decrease = 1e-12;

  /// Stop if three accepted steps together reduced the cost by less than stagnant_gain · cost. With
  /// 1e4 residuals, a reduction of 1e-7 moves no parameter by more than 0.03 standard deviations.
  double stagnant_gain = 1e-7;

  /// While the cost exceeds `far_cost`, stop if three accepted steps together reduced it by less
  /// than far_gain · cost: the initial values are not worth more iterations.
  double far_cost = std::numeric_limits<double>::infinity();
  double far_gain = 0.1;

  /// Initial damping α of (H + α D) δ = −g, and its range. α is dimensionless in Marquardt's
  /// scaling. An initial value relative to max diag(H) would freeze the parameters of stiff
  /// problems.
  double initial_damping = 1e-8;
  double min_damping = 1e-16;
  double max_damping = 1e8;
};

using LmMonitor = std::function<void(const IterationRecord&)>;

/// Solves a least-squares problem by Levenberg–Marquardt on a manifold with bounds on the
/// parameters.
///
/// Each iteration linearizes, eliminates the nodes, solves the box-constrained quadratic problem
/// for the parameters exactly and back-substitutes the nodes [Mar, Alg. 1 and App. C]. It differs
/// from the printed algorithm: the gain ratio is actual over predicted decrease, all norms are
/// weighted, a non-finite candidate is never accepted, and the loop ends at max_damping. Class
/// Damping updates the damping. After a rejected step the problem is linearized again: rejections
/// are rare, and keeping H beside its factor would double the memory.
///
/// Initial parameters outside their bounds are projected onto them. No candidate violates a bound,
/// provided the problem adds parameter_step to the parameters in double precision.
///
/// Before a rejected step raises the damping, the solver applies the step tentatively and
/// continues. It keeps the result if either of the next two steps reaches a cost below the previous
/// cost (the watchdog of [Cha82]). Stiff constraints and large weights create narrow curved
/// valleys, in which a straight step first raises the cost and the next step returns to the valley
/// (Maratos effect).
///
/// @param monitor  called after the start (iteration 0) and after every accepted step
/// @param stop     polled before every linearization; may be null
LmSummary solve(LeastSquaresProblem& problem, const LmOptions& options = {},
                const LmMonitor& monitor = {}, const std::atomic<bool>* stop = nullptr);

/// Levenberg–Marquardt damping α, updated as in [Nie99], except that a nearly perfect gain ratio
/// reduces it by up to a factor of 100 at once.
class Damping {
 public:
  explicit Damping(const LmOptions& options);

  double value() const { return value_; }

  /// Reduces the damping after an accepted step: multiplies it by 1 − (2ρ − 1)³, limited to between
  /// 1/100 and 1/3. It may always decrease, because a step that is too long is tried again (see
  /// solve). Otherwise the solver would progress slowly in curved valleys.
  /// @param gain_ratio ρ, actual over predicted decrease
  void lower(double gain_ratio);

  /// Raises the damping after a rejected step: multiplies it by 2, then 4, 8, … until a step is
  /// accepted.
  /// @return false at the largest damping
  bool raise();

  /// Raises the damping by 100 after a failed factorization, which is due to round-off.
  /// @return false at the largest damping
  bool raise_for_rounding();

 private:
  bool multiply_damping(double factor);

  double min_, max_, value_;
  double growth_;  // next factor, ν of [Nie99]
};

}  // namespace estimator
