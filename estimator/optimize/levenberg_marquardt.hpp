#pragma once

#include <atomic>
#include <functional>
#include <limits>

#include "estimator/optimize/least_squares_problem.hpp"
#include "estimator/optimize/lm_summary.hpp"

namespace estimator {

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
/// provided the problem adds arrow_step to the parameters in double precision.
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

}  // namespace estimator
