#include "estimator/fit/physical/shooting_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "estimator/fit/inertia_parameterized_problem.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/fit/physical/joint_mobility.hpp"
#include "estimator/fit/physical/restarts.hpp"
#include "estimator/fit/physical/shooting/impact_free_nodes.hpp"
#include "estimator/fit/physical/shooting/integration_steps.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

constexpr double kNegligibleShare = 1e-6;  // negligible process noise, relative to accelerations

/// Smallest ratio of a sensor's simulation residuals to its joint-estimation residuals at which a
/// simulation fit has diverged.
constexpr double kAstrayRatio = 1.5;

constexpr double kSmallDecrease = 1.0;  // of the whitened cost, while noise levels change
constexpr double kNegligibleDecrease = 1e-2;
constexpr double kStagnantDecrease = 0.1;  // smallest decrease in three steps
constexpr double kDampingCarriedOver = 0.1;  // from a solve to the next with other noise levels
constexpr int kNoiseRounds = 10;
constexpr double kNoiseSettled = 0.05;  // relative change of a noise level

bool any_sticks(const Mechanism& mechanism) {
  for (int joint = 0; joint < mechanism.joint_count(); ++joint) {
    if (can_stick(mechanism, joint)) return true;
  }
  return false;
}

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

ShootingFit::ShootingFit(ShootingInput input, const CalibrationOptions& options,
                         const CalibrationMonitor& monitor, FitStages stages)
    : input_(std::move(input)), options_(options), monitor_(monitor), stages_(stages) {
  joint_history_.iterations_most = simulation_history_.iterations_most = options_.max_iterations;
}

bool ShootingFit::is_process_noise_significant(int coordinate) const {
  const double generous = input_.noise.acceleration[coordinate];
  return process_noise_updates_[coordinate].is_significant() &&
         joint_->noise().acceleration[coordinate] >
             kNegligibleShare / kInflatedNoiseFraction * generous;
}

bool ShootingFit::has_ended(const ShootingHistory& history) const {
  return is_cancelled() || history.iterations >= history.iterations_most;
}

/// Returns solver options that stop at the given decrease of the cost. Since residuals are
/// whitened, a decrease by d moves no parameter by more than √d of its standard deviation.
LmOptions ShootingFit::make_solver_options(const ShootingProblem& problem, double decrease) const {
  const double readings = problem.total_reading_count();
  LmOptions options;
  options.max_iterations = std::numeric_limits<int>::max();
  options.cost_tolerance = decrease / readings;
  options.stagnant_gain = std::max(kStagnantDecrease, decrease) / readings;
  return options;
}

void ShootingFit::report_solve(SolveKind kind, const Mechanism& varied,
                               ShootingHistory& history) const {
  ++history.solve;
  history.kind = kind;
  if (!monitor_.on_stage) return;
  const bool is_joint = &history == &joint_history_;
  monitor_.on_stage({is_joint ? stages_.joint : stages_.simulation, kind}, varied);
}

void ShootingFit::run(ShootingProblem& problem, LmOptions options, ShootingHistory& history) const {
  const int most = options.max_iterations;
  int before = 0;
  const auto on_iteration = [&](const IterationRecord& record) {
    if (record.iteration == 0 && !history.records.empty()) return;
    history.records.push_back(record);
    history.records.back().iteration += before;
    history.records.back().solve = history.solve;
    history.records.back().kind = history.kind;
    if (monitor_.on_iteration) monitor_.on_iteration(history.records.back());
  };
  for (int round = 0; round <= kNodeRepairRounds; ++round) {
    if (round > 0 && (has_ended(history) || !move_nodes_to_simulated_ends(problem))) return;
    before = history.iterations;
    options.max_iterations = std::min(most, history.iterations_most - before);
    const LmSummary summary = solve_in_inertia_coordinates(problem, problem.mechanism(),
                                                           options_.inertia_parameterization,
                                                           options, on_iteration, monitor_.stop);
    history.termination = summary.termination;
    history.iterations += summary.iterations;
    history.cost = summary.cost;
  }
}

/// Returns a problem that starts from the current states of the joint estimation.
std::unique_ptr<ShootingProblem> ShootingFit::make_problem(const Mechanism& mechanism,
                                                           const ShootingNoise& noise,
                                                           const ShootingGrid& grid) const {
  return std::make_unique<ShootingProblem>(
      joint_->copy_with_changes(mechanism, input_.segments, grid, noise));
}

void ShootingFit::estimate_jointly(const Mechanism& start) {
  if (monitor_.on_stage) monitor_.on_stage({stages_.joint}, start);
  start_ = start;
  for (std::size_t i = 0; i < restart_values_.parameters.size(); ++i) {
    const Parameter& parameter = restart_values_.parameters[i];
    const bool is_inside = parameter.value > parameter.lower && parameter.value < parameter.upper;
    if (is_inside) start_.parameters[i].value = parameter.value;
  }
  fit_relaxed(start);
  Mechanism reached = start;
  copy_parameter_values(joint_->mechanism(), reached);
  ShootingNoise noise = joint_->noise();
  const ParameterInformation information = compute_information(*joint_);
  if (information.valid) update_noise_levels(information, noise);
  noise.acceleration = kProcessDrop * input_.noise.acceleration;
  if (options_.acceleration_noise > 0.0)
    noise.acceleration.setConstant(options_.acceleration_noise);
  if (has_steep_friction(reached)) {
    // Set-valued friction first: its estimates determine the steps for smooth friction.
    joint_ = make_problem(with_set_valued_friction(reached), noise, input_.grid);
    report_solve(SolveKind::kStickingFriction, reached, joint_history_);
    run(*joint_, make_solver_options(*joint_, kSmallDecrease), joint_history_);
    copy_parameter_values(joint_->mechanism(), reached);
    limit_integration_steps(compute_friction_step_limits(reached, input_.states), input_);
  } else {
    choose_integration_steps(reached, options_, input_);  // other steps only if damping limits them
  }
  joint_ = make_problem(reached, noise, input_.grid);
  process_noise_updates_.assign(static_cast<std::size_t>(joint_->coordinate_count()), {});
  estimate_noise_levels();
  restart_joint_estimation();
  if (!has_closed_loops(reached)) return;
  if (use_final_integration_steps(input_)) {
    joint_ = make_problem(joint_->mechanism(), joint_->noise(), input_.grid);
    report_solve(SolveKind::kShorterSteps, joint_->mechanism(), joint_history_);
    run(*joint_, make_solver_options(*joint_, kSmallDecrease), joint_history_);
  }
  if (any_sticks(reached)) repeat_noise_annealing();
}

/// Anneals the process noise again from the result of the joint estimation. Keeps the result if it
/// has a lower cost with the original noise levels. Unobserved joints stick at instants that the
/// readings hardly determine. This causes local minima, which states with process noise can leave.
void ShootingFit::repeat_noise_annealing() {
  if (has_ended(joint_history_) || options_.acceleration_noise > 0.0 || options_.restarts == 0) {
    return;
  }
  const ShootingHistory before = joint_history_;
  const std::vector<ProcessNoiseUpdate> updates = std::exchange(
      process_noise_updates_, std::vector<ProcessNoiseUpdate>(process_noise_updates_.size()));
  ShootingNoise noise = joint_->noise();
  noise.acceleration = kProcessDrop * input_.noise.acceleration;
  std::unique_ptr<ShootingProblem> first =
      std::exchange(joint_, make_problem(joint_->mechanism(), noise, input_.grid));
  joint_history_.iterations_most = joint_history_.iterations + options_.max_iterations;
  report_solve(SolveKind::kAnnealedAgain, joint_->mechanism(), joint_history_);
  estimate_noise_levels();
  std::unique_ptr<ShootingProblem> again =
      make_problem(joint_->mechanism(), first->noise(), input_.grid);
  joint_ = std::move(first);
  process_noise_updates_ = updates;
  joint_history_.termination = before.termination;
  joint_history_.cost = before.cost;
  if (!has_ended(joint_history_) &&
      try_restart(joint_, std::move(again), kNegligibleDecrease, joint_history_)) {
    estimate_noise_levels();
  }
}

bool ShootingFit::has_significant_process_noise() const {
  for (int p = 0; p < joint_->coordinate_count(); ++p) {
    if (is_process_noise_significant(p)) return true;
  }
  return false;
}

std::vector<Mechanism> ShootingFit::make_restart_candidates(const Mechanism& reached) const {
  return choose_restart_values(reached, start_, input_.max_speed, has_significant_process_noise());
}

/// Restarts the joint estimation, and continues from the first restart that lowers the cost. Ends
/// if no restart does. Restarts have their own iteration limit, as long fits need them most.
void ShootingFit::restart_joint_estimation() {
  const auto is_better = [&](const Mechanism& chance) {
    return !has_ended(joint_history_) &&
           try_restart(joint_, make_problem(chance, joint_->noise(), input_.grid), kSmallDecrease,
                       joint_history_);
  };
  for (int round = 0; round < options_.restarts && !has_ended(joint_history_); ++round) {
    joint_history_.iterations_most = joint_history_.iterations + options_.max_iterations;
    if (!std::ranges::any_of(make_restart_candidates(joint_->mechanism()), is_better)) return;
    estimate_noise_levels();
  }
}

/// Solves the problem `again`, which replaces `problem` if its cost is lower.
bool ShootingFit::try_restart(std::unique_ptr<ShootingProblem>& problem,
                              std::unique_ptr<ShootingProblem> again, double decrease,
                              ShootingHistory& history) const {
  const ShootingHistory before = history;
  report_solve(SolveKind::kRestart, again->mechanism(), history);
  LmOptions options = make_solver_options(*again, decrease);
  options.far_cost = kDivergedErrorRatio * before.cost;
  run(*again, options, history);
  if (again->cost() < before.cost - kSmallDecrease) {
    problem = std::move(again);
    return true;
  }
  history.termination = before.termination;
  history.cost = before.cost;
  return false;
}

/// Alternates solving and estimating the noise levels until they agree with the residuals. Process
/// noise decreases in stages: each narrows the valley in which the next begins. It stops decreasing
/// when it no longer affects the states, or when the residuals exceed it.
void ShootingFit::estimate_noise_levels() {
  for (int round = 0; round < kNoiseRounds; ++round) {
    report_solve(SolveKind::kNewNoise, joint_->mechanism(), joint_history_);
    LmOptions options = make_solver_options(*joint_, kSmallDecrease);
    if (round > 0)
      options.first_damping = kDampingCarriedOver * joint_history_.records.back().damping;
    run(*joint_, options, joint_history_);
    if (has_ended(joint_history_)) return;
    const ParameterInformation information = compute_information(*joint_);
    if (!information.valid) break;
    ShootingNoise noise = joint_->noise();
    const bool changed = update_noise_levels(information, noise);
    joint_->set_noise_levels(noise);
    if (!changed) break;
  }
  report_solve(SolveKind::kFinalNoise, joint_->mechanism(), joint_history_);
  run(*joint_, make_solver_options(*joint_, kNegligibleDecrease), joint_history_);
}

/// Adapts the noise level of each sensor and coordinate to its residuals.
/// @return whether any level changed by more than kNoiseSettled
bool ShootingFit::update_noise_levels(const ParameterInformation& information,
                                      ShootingNoise& noise) {
  bool changed = false;
  const auto scale = [&](double& level, double factor) {
    level *= factor;
    changed |= std::abs(factor - 1.0) > kNoiseSettled;
  };
  const Eigen::VectorXd scales = readings_per_radian(joint_->mechanism());
  const auto factors = compute_encoder_noise_factors(joint_->mechanism(), information.groups);
  for (int sensor = 0; sensor < joint_->encoder_count(); ++sensor) {
    scale(noise.angle[sensor], factors[sensor]);
    noise.angle[sensor] = std::max(noise.angle[sensor], kAngleNoiseFloor * scales[sensor]);
  }
  for (const int axis : joint_->inertial_axes()) {
    const auto group = static_cast<std::size_t>(joint_->inertial_noise_group(axis));
    scale(noise.inertial[axis], compute_sensor_noise_factor(information.groups[group]));
    noise.inertial[axis] = std::max(noise.inertial[axis], kInertialNoiseFloor);
  }
  if (options_.acceleration_noise > 0.0) return changed;
  for (int j = 0; j < static_cast<int>(process_noise_updates_.size()); ++j) {
    const auto at = static_cast<std::size_t>(joint_->acceleration_noise_group(j));
    const double least = input_.least_acceleration[j] / noise.acceleration[j];
    scale(noise.acceleration[j],
          process_noise_updates_[j].compute_noise_level_factor(information.groups[at], least));
  }
  return changed;
}

std::unique_ptr<ShootingProblem> ShootingFit::make_prediction_problem(const Mechanism& mechanism,
                                                                      double horizon) const {
  ShootingGrid grid = input_.grid;
  const double spacing = joint_->node_spacing(0);
  grid.interval = spacing * std::max(1.0, std::round(horizon / spacing));
  return make_problem(mechanism, joint_->noise(), grid);
}

bool ShootingFit::fit_simulation() {
  simulation_ = make_simulation_problem(joint_->mechanism());
  predictable_ = true;
  const Eigen::VectorXd scales = readings_per_radian(simulation_->mechanism());
  for (int sensor = 0; sensor < simulation_->encoder_count(); ++sensor) {
    const double squares = simulation_->squared_error(sensor) / simulation_->reading_count(sensor);
    predictable_ &= squares < std::pow(kPredictableRmse * scales[sensor], 2);
  }
  const bool controls_acted = input_.noise.control.size() == 0;
  if (!options_.refine_simulation || !controls_acted || !predictable_ || is_cancelled()) {
    return false;
  }
  if (monitor_.on_stage) monitor_.on_stage({stages_.simulation}, simulation_->mechanism());
  run(*simulation_, make_solver_options(*simulation_, kNegligibleDecrease), simulation_history_);
  restart_simulation_fit();
  if (!has_simulation_diverged()) return true;
  diverged_ = true;
  simulation_ = make_simulation_problem(joint_->mechanism());
  return false;
}

/// Returns whether the simulation's residuals are larger than those of the jointly estimated
/// states, although these states obey the model. The simulation fit then missed an existing
/// solution.
bool ShootingFit::has_simulation_diverged() const {
  if (has_significant_process_noise()) return false;
  for (int sensor = 0; sensor < joint_->encoder_count(); ++sensor) {
    const double states = joint_->squared_error(sensor);
    if (simulation_->squared_error(sensor) > kAstrayRatio * kAstrayRatio * states) {
      return !is_cancelled();
    }
  }
  return false;
}

bool ShootingFit::restart_simulation_fit_from(const Mechanism& values) {
  simulation_history_.iterations_most = simulation_history_.iterations + options_.max_iterations;
  return !is_cancelled() && try_restart(simulation_, make_simulation_problem(values),
                                        kNegligibleDecrease, simulation_history_);
}

/// Restarts the simulation fit in the way that `restart_joint_estimation` restarts the joint
/// estimation.
void ShootingFit::restart_simulation_fit() {
  const auto is_better = [&](const Mechanism& chance) {
    return !has_ended(simulation_history_) &&
           try_restart(simulation_, make_simulation_problem(chance), kNegligibleDecrease,
                       simulation_history_);
  };
  for (int round = 0; round < options_.restarts && !has_ended(simulation_history_); ++round) {
    simulation_history_.iterations_most = simulation_history_.iterations + options_.max_iterations;
    if (!std::ranges::any_of(make_restart_candidates(simulation_->mechanism()), is_better)) return;
  }
}

std::vector<SegmentTrajectory> ShootingFit::trajectories() const {
  std::vector<SegmentTrajectory> result;
  for (std::size_t s = 0; s < input_.segments.size(); ++s) {
    const Segment& segment = input_.segments[s];
    const int index = static_cast<int>(s);
    result.push_back({.recording = input_.sources[s],
                      .start = segment.start,
                      .step = segment.period,
                      .times = segment.times,
                      .measured = segment.angles,
                      .estimated = joint_->predicted_angles(index),
                      .simulated = simulation_->predicted_angles(index),
                      .control = segment.controls});
  }
  return result;
}

double ShootingFit::shorten_node_intervals(const Mechanism& start) {
  const double least = min_node_interval(input_.segments);
  while (true) {
    const std::unique_ptr<ShootingProblem> problem = make_second_stage_problem(start);
    if (std::isfinite(problem->cost())) return problem->cost() / problem->total_reading_count();
    if (input_.grid.interval <= least) {
      throw std::invalid_argument(
          "the simulation with the initial values of the parameters fails shortly after a recorded "
          "state (within " +
          number_text(input_.grid.interval) + " s): " +
          (has_closed_loops(start)
               ? "loops open, or values overflow. Check joint points, masses and inertias"
               : "values overflow. "
                 "Check masses, inertias, springs, friction and the units of the recording"));
    }
    input_.grid.interval = std::max(0.5 * input_.grid.interval, least);
  }
}

std::unique_ptr<ShootingProblem> ShootingFit::make_second_stage_problem(
    const Mechanism& mechanism) const {
  return make_relaxed_problem(mechanism, make_complete_excerpt(input_), input_.grid.interval,
                              input_.noise);
}

std::unique_ptr<ShootingProblem> ShootingFit::make_relaxed_problem(
    const Mechanism& mechanism, const Excerpt& excerpt, double interval,
    const ShootingNoise& noise) const {
  ShootingGrid grid = input_.grid;
  grid.interval = interval;
  grid.local_steps = excerpt.local_steps;
  return std::make_unique<ShootingProblem>(with_set_valued_friction(mechanism), excerpt.segments,
                                           excerpt.states, excerpt.state_spacing, grid, noise,
                                           monitor_.threads);
}

/// Returns inflated noise levels: process noise as a fraction of the accelerations, and consistent
/// reading noise. Smaller reading noise would force the motion to follow a wrong model.
ShootingNoise ShootingFit::inflate_noise(double share, double interval) const {
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
  const double part = std::max(interval, default_node_interval(input_.segments));
  const Excerpt excerpt = select_excerpt(input_, kExcerptIntervals * part, kWindowIntervals * part);
  joint_ = search_initial_values(held, excerpt);
  if (excerpt.is_whole) return;
  joint_history_.iterations_most += joint_history_.iterations;
  Mechanism near = held;
  copy_parameter_values(joint_->mechanism(), near);
  const Excerpt whole = make_complete_excerpt(input_);
  joint_ = make_relaxed_problem(near, whole, interval, joint_->noise());
  report_solve(SolveKind::kAllFromExcerpt, near, joint_history_);
  solve_relaxed(*joint_);
  if (is_near_solution(*joint_)) return;
  report_solve(SolveKind::kAllFromStart, held, joint_history_);
  joint_ = search_initial_values(held, whole);
}

/// Fits an excerpt of the recordings. If the fit ends far from the readings, repeats it with
/// inflated reading noise, then from the result of a fit with closer nodes. Returns the better
/// repetition.
std::unique_ptr<ShootingProblem> ShootingFit::search_initial_values(const Mechanism& start,
                                                                    const Excerpt& excerpt) {
  const double interval = input_.grid.interval;
  std::unique_ptr<ShootingProblem> best =
      make_relaxed_problem(start, excerpt, interval, input_.noise);
  solve_relaxed(*best);
  if (is_near_solution(*best)) return best;
  const ShootingNoise noise = inflate_noise(kInflatedNoiseFraction, interval);
  if (noise.angle != input_.noise.angle) {
    best = make_relaxed_problem(start, excerpt, interval, noise);
    report_solve(SolveKind::kInflatedNoise, start, joint_history_);
    solve_relaxed(*best);
    if (is_near_solution(*best)) return best;
  }
  const double shorter = std::max(kApproachInterval, min_node_interval(input_.segments));
  if (shorter >= interval) return best;
  const std::unique_ptr<ShootingProblem> approach =
      make_relaxed_problem(start, excerpt, shorter, inflate_noise(kApproachShare, shorter));
  report_solve(SolveKind::kShortSegments, start, joint_history_);
  solve_relaxed(*approach);
  Mechanism near = start;
  copy_parameter_values(approach->mechanism(), near);
  std::unique_ptr<ShootingProblem> again = make_relaxed_problem(near, excerpt, interval, noise);
  report_solve(SolveKind::kAfterShortSegments, near, joint_history_);
  solve_relaxed(*again);
  return again->cost() < best->cost() ? std::move(again) : std::move(best);
}

bool ShootingFit::is_near_solution(const ShootingProblem& problem) const {
  return is_cancelled() || problem.cost() <= kDivergedErrorRatio * problem.total_reading_count();
}

void ShootingFit::solve_relaxed(ShootingProblem& problem) {
  LmOptions loose;
  loose.cost_tolerance = kLooseTolerance;
  loose.max_iterations = kLooseIterations;
  loose.stagnant_gain = kLooseGain;
  loose.far_cost = kDivergedErrorRatio * problem.total_reading_count();
  run(problem, loose, joint_history_);
}

}  // namespace estimator
