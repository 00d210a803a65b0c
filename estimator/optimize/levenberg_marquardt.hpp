#pragma once

#include <atomic>
#include <functional>
#include <limits>

#include "estimator/optimize/least_squares_problem.hpp"
#include "estimator/optimize/lm_summary.hpp"

namespace estimator {

/// When to stop and how to damp. With r the residuals, H = JᵀJ and D = diag(H).
struct LmOptions {
  int max_iterations = 50;

  /// Stop when |g_i| ≤ gradient_tolerance · ‖r‖ √D_ii for every unknown that is not held by a
  /// bound: the cosine between the residual and that unknown's column of J.
  double gradient_tolerance = 1e-12;

  /// Stop when no node moves by more than step_tolerance (tangent coordinates: rad, m, m/s, rad/s)
  /// and ‖δ_χ‖_D ≤ step_tolerance ‖χ‖_D for the parameters.
  double step_tolerance = 1e-8;

  /// Stop when predicted and actual decrease are both below cost_tolerance · cost. The last step
  /// is still taken, so what remains is of second order in it: with 1e5 residuals, a decrease of
  /// 1e-10 moves no parameter by more than 0.003 standard deviations.
  double cost_tolerance = 1e-10;

  /// Stop when a step was rejected and predicted less than negligible_decrease · cost, however
  /// strongly damped. With the decrease of an undamped step, c²·cost for a cosine c as above, this
  /// says c² ≤ (1 + α) negligible_decrease: not that the gradient vanishes, but that following it
  /// does not pay. Without it the solver crawls along kinks of the residuals in ever smaller steps.
  double negligible_decrease = 1e-12;

  /// Stop when three accepted steps together gained less than stagnant_gain · cost. With 1e4
  /// residuals, a gain of 1e-7 moves no parameter by more than 0.03 standard deviations.
  double stagnant_gain = 1e-7;

  /// Above `far_cost`, what three accepted steps together have to gain of the cost: a start from
  /// which nothing better than this is reached is worth no more of them.
  double far_cost = std::numeric_limits<double>::infinity();
  double far_gain = 0.1;

  /// α of (H + α D) δ = −g at the start, and its range. Marquardt's scaling makes α
  /// dimensionless; a starting value relative to max diag(H) freezes the parameters of stiff
  /// problems.
  double initial_damping = 1e-8;
  double min_damping = 1e-16;
  double max_damping = 1e8;
};

using LmMonitor = std::function<void(const IterationRecord&)>;

/// Levenberg–Marquardt on a manifold with box constraints on the parameters.
///
/// Each iteration linearises, eliminates the nodes, solves the box-constrained quadratic for the
/// parameters exactly and lets the nodes follow [Mar, Alg. 1 and App. C]. Departures from the
/// printed algorithm: the gain ratio is actual over predicted decrease, all norms are weighted, a
/// rejected or non-finite candidate is never accepted, and the damping ends the loop at
/// max_damping. Damping follows [Nie99], except that a nearly perfect gain ratio lowers it by up to
/// a hundredfold at once. A rejected step linearises anew: rejections are rare, and keeping H
/// beside its factor would double the memory.
///
/// A start outside the box is first moved onto it. No candidate leaves the box, provided the
/// problem adds arrow_step to the parameters in double precision.
///
/// A rejected step gets a second chance before the damping is raised: it is taken all the same, and
/// kept if the next step or two come out below where the first began (the watchdog of [Cha82]).
/// Stiff constraints and large weights make narrow curved valleys, where any straight step of
/// useful length first rises and the next one falls back into the valley (Maratos effect).
///
/// @param monitor  called after the start (iteration 0) and after every accepted step
/// @param stop     polled before every linearisation; may be null
LmSummary solve(LeastSquaresProblem& problem, const LmOptions& options = {},
                const LmMonitor& monitor = {}, const std::atomic<bool>* stop = nullptr);

}  // namespace estimator
