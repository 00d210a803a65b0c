#pragma once

#include <Eigen/Core>
#include <atomic>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// A stage of an estimation, for progress reports.
enum class EstimationStage {
  kJointEstimation,  ///< joint estimation of parameters, states and noise levels
  kSimulationFit,    ///< fit of the open-loop simulation
  kInitialValues,    ///< joint estimation of physical parameters, to start shadow parameters from
  kStateEstimation,  ///< joint estimation with fixed parameters
  kInitialStates,    ///< simulation fit with fixed parameters
  kPartComparison,   ///< comparison of segments
  kMisfitCauses,     ///< search for the causes of a misfit
  kRegression,       ///< linear regression of inverse dynamics
};

/// The purpose of one of several consecutive solves of an estimation stage. Costs of different
/// solves are not comparable.
enum class SolveKind {
  kFirst,
  kInflatedNoise,       ///< solve with inflated sensor noise
  kShortSegments,       ///< solve over short segments
  kAfterShortSegments,  ///< start: result over short segments
  kAllFromExcerpt,      ///< all samples, start: result of an excerpt
  kAllFromStart,        ///< all samples, start: initial values
  kStickingFriction,    ///< solve with dry friction that can stick
  kNewNoise,            ///< solve with re-estimated noise levels
  kFinalNoise,
  kRestart,
  kShorterSteps,
  kAnnealedAgain,     ///< solve with the initial process noise
  kSmoothedFriction,  ///< solve with smoothed dry friction
  kRigFriction,       ///< solve with the rig's friction
};

/// An estimation stage and its current solve, for progress reports.
struct FitStage {
  EstimationStage stage = EstimationStage::kJointEstimation;
  SolveKind solve = SolveKind::kFirst;

  bool operator==(const FitStage&) const = default;
};

/// The reason why the solver stopped. If it did not converge, the caller decides whether the
/// parameters are usable.
enum class Termination {
  kGradientTolerance,  ///< the projected, scaled gradient is below its tolerance
  kStepTolerance,      ///< the step is below its tolerance relative to the point
  kCostTolerance,      ///< the relative reduction of the cost is below its tolerance
  /// Steps were rejected until the predicted decrease of the cost became negligible. Occurs if the
  /// decrease is below the round-off of the cost, and at kinks of the residuals (dry friction),
  /// where the linearization is invalid for any step.
  kNoFurtherDecrease,
  kMaxIterations,
  kCancelled,         ///< the caller's stop flag was set
  kNumericalFailure,  ///< no descent at the largest damping, or a non-finite start
};

/// Returns the name of a termination reason for messages and files, such as "gradient tolerance".
std::string_view to_string(Termination termination);

/// Returns whether the solver converged: it stopped at one of the three tolerances or with
/// kNoFurtherDecrease, so no measurable improvement is possible.
bool is_converged(Termination termination);

/// The record of one solver iteration, for progress output and histories.
struct IterationRecord {
  int iteration = 0;           ///< number of the iteration; 0: the initial point
  double cost = 0.0;           ///< Σ‖r‖² after the iteration
  double step_norm = 0.0;      ///< scaled norm of the accepted step
  double gradient_norm = 0.0;  ///< projected, scaled gradient before the step
  double damping = 0.0;        ///< damping α of the accepted step
  double gain_ratio = 0.0;     ///< actual over predicted decrease of the accepted step
  int rejected = 0;            ///< rejected trial steps within this iteration
  Eigen::VectorXd parameters;  ///< parameter values after the iteration
  /// Number of previous solves, and kind of this solve. Set by callers that solve repeatedly.
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

/// Stopping criteria and damping of the Levenberg–Marquardt solver. r are the residuals, J is their
/// Jacobian, H = JᵀJ and D = diag(H).
struct LmOptions {
  int max_iterations = 50;

  /// Stop if the cosine between the residual r and each column of the Jacobian J is at most
  /// gradient_tolerance. Ignores unknowns at a bound.
  double gradient_tolerance = 1e-12;

  /// Stop if no node state changes by more than step_tolerance (rad, m, m/s, rad/s) and the
  /// parameter step δ_χ satisfies ‖δ_χ‖_D ≤ step_tolerance ‖χ‖_D.
  double step_tolerance = 1e-8;

  /// Stop if the predicted and the actual decrease of the cost are both below cost_tolerance ·
  /// cost. With 1e5 residuals, a decrease of 1e-10 moves no parameter by more than 0.003 standard
  /// deviations. The last step is accepted, so the remaining error is even smaller.
  double cost_tolerance = 1e-10;

  /// Stop if a rejected step had predicted a decrease of the cost below negligible_decrease · cost.
  /// Otherwise the solver would take ever smaller steps along kinks of the residuals. An undamped
  /// step decreases the cost by c²·cost for a cosine c as in gradient_tolerance, so at the stop
  /// c² ≤ (1 + α) negligible_decrease.
  double negligible_decrease = 1e-12;

  /// Stop if three accepted steps together reduced the cost by less than stagnant_gain · cost. With
  /// 1e4 residuals, a reduction of 1e-7 moves no parameter by more than 0.03 standard deviations.
  double stagnant_gain = 1e-7;

  /// While the cost exceeds `far_cost`, stop if three accepted steps together reduced the cost by
  /// less than far_gain · cost. More iterations from these initial values would be wasted.
  double far_cost = std::numeric_limits<double>::infinity();
  double far_gain = 0.1;

  /// Initial value and range of the damping α in the equation (H + α D) δ = −g of the step δ. α is
  /// dimensionless. An initial value relative to max diag(H) would hold the parameters of stiff
  /// problems almost constant.
  double initial_damping = 1e-8;
  double first_damping = 0.0;  ///< damping of the first step, if above initial_damping
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
/// Damping updates the damping. The linearized blocks double the memory. They are therefore kept
/// only while steps are rejected, since most points need only one damping.
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
  /// 1/100 and 1/3. The upper limit speeds up progress in curved valleys. If a step is too long,
  /// the solver tries shorter steps.
  /// @param gain_ratio ρ, actual over predicted decrease
  void lower(double gain_ratio);

  /// Raises the damping after a rejected step: multiplies it by 2, then 4, 8, … until a step is
  /// accepted.
  /// @return false at the largest damping
  bool raise();

  /// Multiplies the damping by 100 after a factorization failed because of round-off.
  /// @return false at the largest damping
  bool raise_after_failed_factorization();

 private:
  bool multiply_damping(double factor);

  double min_, max_, value_;
  double growth_;  // next factor, ν of [Nie99]
};

}  // namespace estimator
