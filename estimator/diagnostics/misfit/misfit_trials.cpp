#include "estimator/diagnostics/misfit/misfit_trials.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "estimator/assessment/quantization.hpp"
#include "estimator/fit/free_parameters.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/optimize/covariance.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"

namespace estimator {
namespace {

constexpr int kFollowIterations = 10;
constexpr int kIterations = 15;
constexpr double kTolerance = 1e-4;  // relative decrease of the cost that ends a fit

LmOptions few(int iterations) {
  return {.max_iterations = iterations, .cost_tolerance = kTolerance, .stagnant_gain = kTolerance};
}

/// Computing work of an integration step that closes loops, relative to a step of a tree. Causes of
/// a four-bar took more than a minute of processor time, those of trees about five seconds.
constexpr double kLoopWork = 16.0;

/// Returns the computing work of an integration step and integrated vector of a tree, relative to a
/// mechanism with two joints. Measured for an arm (arm_links in tests/bench/shooting): 2.7 with
/// four joints, 4.9 with six and 29 with sixteen, about the power 1.5 of the number of joints.
double tree_work(int joints) { return std::pow(std::max(0.5 * joints, 1.0), 1.5); }

/// Returns the computing work of a fit, see ExcerptFit::work.
double work_of(const ShootingProblem& problem, const LmSummary& summary) {
  double evaluations = 1.0;
  for (const IterationRecord& record : summary.history) evaluations += 1.0 + record.rejected;
  const double step = is_tree_mechanism(problem.mechanism())
                          ? tree_work(problem.mechanism().joint_count())
                          : kLoopWork;
  return step * evaluations * problem.integration_step_count() *
         (1.0 + static_cast<double>(problem.parameter_values().size()));
}

/// Returns the problem of fitting states and parameters over short intervals, which initialises the
/// fit of the open-loop simulation. Differences of readings are poor speeds at the ends of an
/// excerpt. An estimate biased by an error may be far from the correct one.
ShootingProblem make_short_intervals(const Mechanism& mechanism, const ShootingInput& input,
                                     const CalibrationMonitor& monitor) {
  return {mechanism,  input.segments, input.states,   input.state_spacing,
          input.grid, input.noise,    monitor.threads};
}

/// Least number of evaluations of a fit.
constexpr double kLeastEvaluations = 5.0;

/// Ratio of the cost with a cause to that without, below which the cause is reported.
constexpr double kHelps = 0.6;

}  // namespace

ExcerptFit::ExcerptFit(const Mechanism& mechanism, const std::vector<Recording>& excerpts,
                       const Eigen::VectorXd& noise, const CalibrationMonitor& monitor,
                       const FitLimits& limits) {
  try {
    ShootingInput input = prepare_shooting_input(mechanism, excerpts, {});
    limit_integration_steps(compute_friction_step_limits(mechanism, input.states), input);
    input.noise.angle = noise;
    ShootingProblem loose = make_short_intervals(mechanism, input, monitor);
    work_ += work_of(loose, {});
    is_too_long_ = kLeastEvaluations * work_ > limits.work;
    if (is_too_long_) return;
    work_ += work_of(loose, solve(loose, few(kFollowIterations), {}, monitor.stop));
    readings_ = loose.reading_count();
    if (!(loose.cost() <= limits.cost_per_reading * readings_)) return;
    Mechanism near = mechanism;
    copy_parameter_values(loose.mechanism(), near);
    input.grid.interval = std::numeric_limits<double>::infinity();
    problem_ = std::make_shared<ShootingProblem>(
        loose.copy_with_changes(near, input.segments, input.grid, input.noise));
    input_ = std::make_shared<const ShootingInput>(std::move(input));
  } catch (const std::invalid_argument&) {
    return;  // a meaningless mechanism explains nothing
  }
  work_ += work_of(*problem_, solve(*problem_, few(kIterations), {}, monitor.stop));
}

double ExcerptFit::cost() const {
  const double cost =
      problem_ == nullptr ? std::numeric_limits<double>::infinity() : problem_->cost();
  return std::isfinite(cost) ? cost : std::numeric_limits<double>::infinity();
}

Eigen::VectorXd ExcerptFit::rmse() const {
  Eigen::VectorXd rmse(problem_->encoder_count());
  for (int i = 0; i < problem_->encoder_count(); ++i) {
    rmse[i] = std::sqrt(problem_->squared_error(i) / problem_->reading_count(i));
  }
  return rmse;
}

double ExcerptFit::standard_deviation(int parameter) const {
  const ParameterInformation information =
      compute_information(*problem_, {.effective_parameters = false});
  const int at = FreeParameters(problem_->mechanism()).find_position(parameter);
  if (!information.valid || at < 0 || information.undetermined[static_cast<std::size_t>(at)]) {
    return std::numeric_limits<double>::infinity();
  }
  return std::sqrt(information.inverse(at, at) * std::max(cost_per_reading(), 1.0));
}

Eigen::MatrixXd ExcerptFit::prediction_errors(int segment) const {
  return segments()[static_cast<std::size_t>(segment)].angles - problem_->predicted_angles(segment);
}

double ExcerptFit::predict_cost(const Mechanism& richer, double& work) const {
  const ShootingProblem problem =
      problem_->copy_with_changes(richer, input_->segments, input_->grid, input_->noise);
  work += work_of(problem, {});
  const ParameterInformation information =
      compute_information(problem, {.effective_parameters = false});
  if (!information.valid) return std::numeric_limits<double>::infinity();
  const Eigen::VectorXd score = compute_total_score(information);
  return problem.cost() - score.dot(information.inverse * score);
}

Eigen::VectorXd estimate_reading_noise(const Mechanism& mechanism,
                                       const std::vector<Recording>& recordings) {
  const Eigen::VectorXd scales = readings_per_radian(mechanism);
  Eigen::VectorXd noise = kAngleNoiseFloor * scales;
  std::vector<Segment> segments;
  for (const Recording& recording : recordings) {
    segments.insert(segments.end(), recording.segments.begin(), recording.segments.end());
  }
  for (Eigen::Index i = 0; i < noise.size(); ++i) {
    noise[i] =
        std::max(noise[i], estimate_reading_noise(segments, static_cast<int>(i), scales[i]));
  }
  return noise;
}

void MisfitProblem::include_cause(const MisfitCause& cause) {
  estimate = cause.mechanism;
  excerpts = cause.excerpts;
  fitted = cause.fit;
}

double MisfitProblem::predict_cost(const Mechanism& richer) const {
  if (!(budget.left > 0.0)) {
    budget.exceeded = true;
    return std::numeric_limits<double>::infinity();
  }
  double work = 0.0;
  const double cost = fitted.predict_cost(richer, work);
  budget.left -= work;
  return cost / fitted.reading_count();
}

ExcerptFit MisfitProblem::fit(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                              double cost_max) const {
  if (!(budget.left > 0.0)) {
    budget.exceeded = true;
    return {};
  }
  ExcerptFit fit(mechanism, recordings, noise, monitor,
                 {.cost_per_reading = cost_max, .work = budget.left});
  budget.left -= fit.work();
  budget.exceeded |= fit.is_too_long();
  return fit;
}

std::vector<MisfitCause> try_misfit_causes(const MisfitProblem& problem,
                                           const std::vector<Recording>& recordings) {
  std::vector<MisfitCause> causes;
  Mechanism held = problem.estimate;
  const bool no_room = fix_inertia_moments_at_bounds(held) >= 0;
  try_stop_positions(problem, causes);
  try_motor_gains(problem, causes);
  try_command_delays(problem, causes);
  // Like a clock error, wrong inertias and a distance that leaves no room for inertia slow or
  // accelerate all motion.
  try_inertial_parameters(problem, causes);
  if (no_room) try_joint_distances(problem, causes);
  const bool too_long = std::ranges::any_of(causes, [](const MisfitCause& cause) {
    return cause.finding.message.code == MessageCode::kNoRoomForInertia;
  });
  if (!too_long) try_clock_error(problem, causes);
  try_missing_terms(problem, causes);
  try_clipped_commands(problem, causes);
  try_creeping_friction(problem, causes);
  try_clipped_readings(problem, recordings, causes);
  if (!no_room) try_joint_distances(problem, causes);
  try_joint_position_signs(problem, causes);
  try_periodic_terms(problem, causes);
  return causes;
}

bool improves_fit_enough(const MisfitProblem& problem, const ExcerptFit& fit) {
  return fit.cost_per_reading() < kHelps * problem.fitted.cost_per_reading();
}

ExcerptFit fit_if_promising(const MisfitProblem& problem, const Mechanism& mechanism,
                            const std::vector<Recording>& excerpts) {
  return problem.fit(mechanism, excerpts, kHelps * problem.fitted.cost_per_reading());
}

MisfitCause make_misfit_cause(const ExcerptFit& fit, Finding finding,
                              const std::vector<Recording>& excerpts) {
  return {std::move(finding), fit, fit.mechanism(), excerpts};
}

void add_cause_if_fit_improves(const MisfitProblem& problem, const ExcerptFit& fit, Finding finding,
                               const std::vector<Recording>& excerpts,
                               std::vector<MisfitCause>& causes) {
  if (improves_fit_enough(problem, fit))
    causes.push_back(make_misfit_cause(fit, std::move(finding), excerpts));
}

void try_other_parameter_value(
    const MisfitProblem& problem, int index, double lower, double upper, double least,
    const std::function<Finding(double change, double deviation)>& finding_of,
    std::vector<MisfitCause>& causes) {
  Mechanism mechanism = problem.estimate;
  Parameter& parameter = mechanism.at(index);
  parameter.free = true;
  parameter.lower = lower;
  parameter.upper = upper;
  const ExcerptFit fit = fit_if_promising(problem, mechanism, problem.excerpts);
  if (!improves_fit_enough(problem, fit)) return;
  const double change = fit.mechanism().at(index).value - parameter.value;
  const double deviation = fit.standard_deviation(index);
  if (!is_significant(change, deviation) || std::abs(change) < least) return;
  causes.push_back(make_misfit_cause(fit, finding_of(change, deviation), problem.excerpts));
}

}  // namespace estimator
