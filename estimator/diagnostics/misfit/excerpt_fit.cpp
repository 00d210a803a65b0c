#include "estimator/diagnostics/misfit/excerpt_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "estimator/assessment/quantization.hpp"
#include "estimator/fit/free_parameters.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/optimize/covariance.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"
#include "estimator/signal/noise_level.hpp"

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

/// Returns the computing work of a fit, see ExcerptFit::work.
double work_of(const ShootingProblem& problem, const LmSummary& summary) {
  double evaluations = 1.0;
  for (const IterationRecord& record : summary.history) evaluations += 1.0 + record.rejected;
  const double step = is_tree(problem.mechanism()) ? 1.0 : kLoopWork;
  return step * evaluations * problem.step_count() *
         (1.0 + static_cast<double>(problem.arrow().size()));
}

/// Fits states and parameters over short intervals, to initialise the fit of the open-loop
/// simulation. Differences of readings are poor speeds at the ends of an excerpt. An estimate
/// biased by an error may be far from the correct one.
ShootingProblem fit_short_intervals(const Mechanism& mechanism, const ShootingInput& input,
                                    const CalibrationMonitor& monitor, double& work) {
  ShootingProblem problem(mechanism, input.segments, input.states, input.state_spacing, input.grid,
                          input.noise, monitor.threads);
  work += work_of(problem, solve(problem, few(kFollowIterations), {}, monitor.stop));
  return problem;
}

}  // namespace

ExcerptFit::ExcerptFit(const Mechanism& mechanism, const std::vector<Recording>& pieces,
                       const Eigen::VectorXd& noise, const CalibrationMonitor& monitor,
                       double cost_max) {
  try {
    ShootingInput input = prepare_shooting(mechanism, pieces, {});
    limit_steps(friction_steps(mechanism, input.states), input);
    input.noise.angle = noise;
    const ShootingProblem loose = fit_short_intervals(mechanism, input, monitor, work_);
    readings_ = loose.reading_count();
    if (!(loose.cost() <= cost_max * readings_)) return;
    Mechanism near = mechanism;
    copy_parameter_values(loose.mechanism(), near);
    input.grid.interval = std::numeric_limits<double>::infinity();
    problem_ = std::make_unique<ShootingProblem>(
        loose.restated(near, input.segments, input.grid, input.noise));
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

double ExcerptFit::rmse(int sensor) const {
  return std::sqrt(problem_->squared_error(sensor) / problem_->reading_count(sensor));
}

double ExcerptFit::deviation(int parameter) const {
  const ParameterInformation information =
      compute_information(*problem_, {.effective_parameters = false});
  const int at = FreeParameters(problem_->mechanism()).position(parameter);
  if (!information.valid || at < 0 || information.undetermined[static_cast<std::size_t>(at)]) {
    return std::numeric_limits<double>::infinity();
  }
  return std::sqrt(information.inverse(at, at) * std::max(cost_per_reading(), 1.0));
}

Eigen::VectorXd reading_noise(const Mechanism& mechanism,
                              const std::vector<Recording>& recordings) {
  const Eigen::VectorXd scales = encoder_scales(mechanism);
  Eigen::VectorXd noise = kAngleNoiseFloor * scales;
  std::vector<Segment> segments;
  for (const Recording& recording : recordings) {
    segments.insert(segments.end(), recording.segments.begin(), recording.segments.end());
  }
  for (Eigen::Index i = 0; i < noise.size(); ++i) {
    const double quantum = find_quantum(segments, static_cast<int>(i), scales[i]);
    noise[i] = std::max({noise[i], quantum / std::sqrt(12.0), noise_level(segments, i)});
  }
  return noise;
}

}  // namespace estimator
