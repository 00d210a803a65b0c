#include "estimator/fit/physical/shooting_fit.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "estimator/fit/number_text.hpp"

namespace estimator {
namespace {

constexpr double kLooseTolerance = 1e-4;  // relative decrease of the cost at convergence
constexpr double kLooseGain = 1e-3;       // in three steps
constexpr int kLooseIterations = 30;

/// Process noise equal to the accelerations, with nodes so close that a wrong model causes little
/// error. The fit is nearly a regression of accelerations, which always converges.
constexpr double kApproachShare = 1.0;
constexpr double kApproachInterval = 0.05;  // [s]

/// Lengths of the excerpt for improving initial values and of each of its windows [node intervals].
constexpr double kExcerptIntervals = 50.0;
constexpr double kWindowIntervals = 5.0;

/// Factor of the reading error that arises because process noise acts only at nodes. Midway between
/// two known nodes at a distance T [s] the error is σ √(T³/192).
const double kBetweenNodes = 1.0 / std::sqrt(192.0);

/// Adds a prior to free parameters without one; mean and standard deviation are the initial value.
/// It is negligible for well identified parameters. Weakly identifiable ones stay near their
/// initial values instead of reaching a bound from which they may not return.
Mechanism held_near_start(Mechanism mechanism) {
  for (Parameter& parameter : mechanism.parameters) {
    if (!parameter.free || parameter.value == 0.0) continue;
    if (std::isfinite(parameter.prior_standard_deviation)) continue;
    parameter.prior_mean = parameter.value;
    parameter.prior_standard_deviation = std::abs(parameter.value);
  }
  return mechanism;
}

}  // namespace

void ShootingFit::shorten_intervals(const Mechanism& start) {
  const double least = min_interval(input_.segments);
  while (!std::isfinite(first_problem(start)->cost())) {
    if (input_.grid.interval <= least) {
      throw std::invalid_argument(
          "the simulation of the rig file fails from the recorded states, even over " +
          number_text(input_.grid.interval) +
          " s: loops open, or values overflow; check joint points, masses and inertias");
    }
    input_.grid.interval = std::max(0.5 * input_.grid.interval, least);
  }
}

std::unique_ptr<ShootingProblem> ShootingFit::first_problem(const Mechanism& mechanism) const {
  return relaxed_problem(mechanism, whole_of(input_), input_.grid.interval, input_.noise);
}

std::unique_ptr<ShootingProblem> ShootingFit::relaxed_problem(const Mechanism& mechanism,
                                                              const Excerpt& excerpt,
                                                              double interval,
                                                              const ShootingNoise& noise) const {
  ShootingGrid grid = input_.grid;
  grid.interval = interval;
  grid.local_steps = excerpt.local_steps;
  return std::make_unique<ShootingProblem>(with_sticking_friction(mechanism), excerpt.segments,
                                           excerpt.states, excerpt.state_spacing, grid, noise,
                                           monitor_.threads);
}

/// Returns inflated noise levels: process noise as a fraction of the accelerations, and consistent
/// reading noise. Smaller reading noise would force the motion to follow a wrong model.
ShootingNoise ShootingFit::inflated_noise(double share, double interval) const {
  const double generosity = share / kInflatedNoiseFraction;
  ShootingNoise noise = input_.noise;
  noise.acceleration *= generosity;
  const double between = kBetweenNodes * std::pow(interval, 1.5) * generosity;
  noise.angle = noise.angle.cwiseMax(between * input_.sensor_acceleration);
  return noise;
}

/// Fits parameters and states with inflated process noise, first an excerpt of the recordings, then
/// all samples from its result. If this ends far from the readings, fits all samples from the
/// initial values.
void ShootingFit::fit_relaxed(const Mechanism& start) {
  const Mechanism held = held_near_start(start);
  const double interval = input_.grid.interval;
  const Excerpt excerpt =
      take_excerpt(input_, kExcerptIntervals * interval, kWindowIntervals * interval);
  joint_ = search(held, excerpt);
  if (excerpt.is_whole) return;
  joint_history_.iterations_most += joint_history_.iterations;
  Mechanism near = held;
  copy_parameter_values(joint_->mechanism(), near);
  const Excerpt whole = whole_of(input_);
  joint_ = relaxed_problem(near, whole, interval, joint_->noise());
  announce(SolveKind::kAllFromExcerpt, near, joint_history_);
  run_relaxed(*joint_);
  if (is_near_solution(*joint_)) return;
  announce(SolveKind::kAllFromStart, held, joint_history_);
  joint_ = search(held, whole);
}

/// Fits an excerpt of the recordings. If the fit ends far from the readings, repeats it with
/// inflated reading noise, then from the result of a fit with closer nodes. Returns the better
/// repetition.
std::unique_ptr<ShootingProblem> ShootingFit::search(const Mechanism& start,
                                                     const Excerpt& excerpt) {
  const double interval = input_.grid.interval;
  std::unique_ptr<ShootingProblem> best = relaxed_problem(start, excerpt, interval, input_.noise);
  run_relaxed(*best);
  if (is_near_solution(*best)) return best;
  const ShootingNoise noise = inflated_noise(kInflatedNoiseFraction, interval);
  if (noise.angle != input_.noise.angle) {
    best = relaxed_problem(start, excerpt, interval, noise);
    announce(SolveKind::kInflatedNoise, start, joint_history_);
    run_relaxed(*best);
    if (is_near_solution(*best)) return best;
  }
  const double shorter = std::max(kApproachInterval, min_interval(input_.segments));
  if (shorter >= interval) return best;
  const std::unique_ptr<ShootingProblem> approach =
      relaxed_problem(start, excerpt, shorter, inflated_noise(kApproachShare, shorter));
  announce(SolveKind::kShortSegments, start, joint_history_);
  run_relaxed(*approach);
  Mechanism near = start;
  copy_parameter_values(approach->mechanism(), near);
  std::unique_ptr<ShootingProblem> again = relaxed_problem(near, excerpt, interval, noise);
  announce(SolveKind::kAfterShortSegments, near, joint_history_);
  run_relaxed(*again);
  return again->cost() < best->cost() ? std::move(again) : std::move(best);
}

bool ShootingFit::is_near_solution(const ShootingProblem& problem) const {
  return is_cancelled() || problem.cost() <= kDivergedErrorRatio * problem.all_reading_count();
}

void ShootingFit::run_relaxed(ShootingProblem& problem) {
  LmOptions loose;
  loose.cost_tolerance = kLooseTolerance;
  loose.max_iterations = kLooseIterations;
  loose.stagnant_gain = kLooseGain;
  loose.far_cost = kDivergedErrorRatio * problem.all_reading_count();
  run(problem, loose, joint_history_);
}

}  // namespace estimator
