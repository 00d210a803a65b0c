#include "estimator/fit/physical/shooting_fit.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "estimator/fit/number_text.hpp"

namespace estimator {
namespace {

constexpr double kLooseTolerance = 1e-4;  // relative decrease of the cost that ends a loose fit
constexpr double kLooseGain = 1e-3;       // at least, in three steps
constexpr int kLooseIterations = 30;

/// Process noise as large as the accelerations themselves and intervals too short for a wrong model
/// to lead far astray: hardly more than a regression of accelerations, which any start survives.
constexpr double kApproachShare = 1.0;
constexpr double kApproachInterval = 0.05;  // [s]

/// Of the excerpt that a start is brought near by, and of a window of it.
constexpr double kExcerptIntervals = 50.0;
constexpr double kWindowIntervals = 5.0;

/// Process noise acts at nodes alone, and readings in between are off by what it would have done
/// there: midway between two nodes of known state, σ √(T³/192) of their spacing T.
const double kBetweenNodes = 1.0 / std::sqrt(192.0);

/// Parameters without a prior get one as wide as their start is far from zero. What the data see
/// overrules it by far; what they hardly see stays near its start instead of running into a bound,
/// from where there may be no way back.
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
  const double least = least_interval(input_.segments);
  while (!std::isfinite(first_problem(start)->cost())) {
    if (input_.grid.interval <= least) {
      throw std::invalid_argument(
          "the motion of the description cannot be followed from what is read, even over " +
          number_text(input_.grid.interval) +
          " s: loops tear, or values overflow; check hinge points, masses and inertias");
    }
    input_.grid.interval = std::max(0.5 * input_.grid.interval, least);
  }
}

std::unique_ptr<ShootingProblem> ShootingFit::first_problem(const Mechanism& mechanism) const {
  return loose_problem(mechanism, whole_of(input_), input_.grid.interval, input_.noise);
}

std::unique_ptr<ShootingProblem> ShootingFit::loose_problem(const Mechanism& mechanism,
                                                            const Excerpt& excerpt, double interval,
                                                            const ShootingNoise& noise) const {
  ShootingGrid grid = input_.grid;
  grid.interval = interval;
  grid.local_steps = excerpt.local_steps;
  return std::make_unique<ShootingProblem>(without_creep(mechanism), excerpt.segments,
                                           excerpt.states, excerpt.state_spacing, grid, noise,
                                           monitor_.threads);
}

/// Process noise of that share of the accelerations, and readings no better than it allows: what is
/// held to be better binds the motion between nodes to a model that is still wrong.
ShootingNoise ShootingFit::lenient_noise(double share, double interval) const {
  const double generosity = share / kGenerousShare;
  ShootingNoise noise = input_.noise;
  noise.acceleration *= generosity;
  const double between = kBetweenNodes * std::pow(interval, 1.5) * generosity;
  noise.angle = noise.angle.cwiseMax(between * input_.sensor_acceleration);
  return noise;
}

/// Parameters and states with a generous process noise: of an excerpt, and from what that gives of
/// everything. Where this ends far from the readings, everything from the start.
void ShootingFit::fit_loosely(const Mechanism& start) {
  const Mechanism held = held_near_start(start);
  const double interval = input_.grid.interval;
  const Excerpt excerpt =
      take_excerpt(input_, kExcerptIntervals * interval, kWindowIntervals * interval);
  joint_ = search(held, excerpt);
  if (excerpt.is_whole) return;
  joint_history_.iterations_most += joint_history_.iterations;
  Mechanism near = held;
  take_values(joint_->mechanism(), near);
  const Excerpt whole = whole_of(input_);
  joint_ = loose_problem(near, whole, interval, joint_->noise());
  announce("from what an excerpt gives", near, joint_history_);
  run_loosely(*joint_);
  if (is_near(*joint_)) return;
  announce("from the start", held, joint_history_);
  joint_ = search(held, whole);
}

/// Where a fit of an excerpt ends far from the readings, once more with readings that are worth no
/// more than its process noise allows, then from the parameters that short intervals give, and the
/// better of both.
std::unique_ptr<ShootingProblem> ShootingFit::search(const Mechanism& start,
                                                     const Excerpt& excerpt) {
  const double interval = input_.grid.interval;
  std::unique_ptr<ShootingProblem> best = loose_problem(start, excerpt, interval, input_.noise);
  run_loosely(*best);
  if (is_near(*best)) return best;
  const ShootingNoise noise = lenient_noise(kGenerousShare, interval);
  if (noise.angle != input_.noise.angle) {
    best = loose_problem(start, excerpt, interval, noise);
    announce("with readings of less weight", start, joint_history_);
    run_loosely(*best);
    if (is_near(*best)) return best;
  }
  const double shorter = std::max(kApproachInterval, least_interval(input_.segments));
  if (shorter >= interval) return best;
  const std::unique_ptr<ShootingProblem> approach =
      loose_problem(start, excerpt, shorter, lenient_noise(kApproachShare, shorter));
  announce("in short pieces", start, joint_history_);
  run_loosely(*approach);
  Mechanism near = start;
  take_values(approach->mechanism(), near);
  std::unique_ptr<ShootingProblem> again = loose_problem(near, excerpt, interval, noise);
  announce("from what short pieces give", near, joint_history_);
  run_loosely(*again);
  return again->cost() < best->cost() ? std::move(again) : std::move(best);
}

bool ShootingFit::is_near(const ShootingProblem& problem) const {
  return is_cancelled() || problem.cost() <= kAstray * problem.all_reading_count();
}

void ShootingFit::run_loosely(ShootingProblem& problem) {
  LmOptions loose;
  loose.cost_tolerance = kLooseTolerance;
  loose.max_iterations = kLooseIterations;
  loose.stagnant_gain = kLooseGain;
  loose.far_cost = kAstray * problem.all_reading_count();
  run(problem, loose, joint_history_);
}

}  // namespace estimator
