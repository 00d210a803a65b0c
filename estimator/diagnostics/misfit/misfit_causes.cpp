#include "estimator/diagnostics/misfit/misfit_causes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "estimator/diagnostics/misfit/misfit_trials.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/model/encoder.hpp"

namespace estimator {
namespace {

/// Ratio of residuals to noise above which a cause is searched. A cause is reported only if it
/// reduces the cost to 60 %, and noise remains.
constexpr double kClearlyLarger = 1.3;

/// Largest number of causes reported, each in addition to all previous causes.
constexpr int kCauseRounds = 2;

/// Largest ratio of the errors over excerpts to the errors over whole recordings.
constexpr double kNoWorse = 1.5;

/// Largest work spent on causes, in units of ExcerptFit::work; about five seconds of one processor.
constexpr double kWorkMost = 1.5e8;

/// Errors above which the simulation over excerpts no longer follows the motion [rad]; scaled for
/// sliding joints.
constexpr double kLost = 0.05;
/// Largest number of times that excerpts are halved to avoid errors above kLost.
constexpr int kExcerptHalvings = 3;

/// Ratio of costs below which two causes are equally likely and are reported together.
constexpr double kCauseAlike = 1.3;

/// Ratio of costs up to which the order of causes depends on their rank.
constexpr double kEqualCost = 1.05;

/// Length and sampling of excerpts in which creep is tested if the most active excerpts show no
/// cause. Creep takes seconds, with joints almost at rest.
constexpr ExcerptLimits kCreepExcerptLimits = {
    .duration = 30.0, .piece = 15.0, .period = 0.01, .rows = 2500};

/// Returns the sensor with the largest ratio of error to noise.
Eigen::Index worst_of(const Eigen::VectorXd& rmse, const Eigen::VectorXd& noise) {
  Eigen::Index worst = 0;
  rmse.cwiseQuotient(noise).maxCoeff(&worst);
  return worst;
}

Quantity error_of(const Encoder& sensor, double error) {
  return {1e3 * error, sensor.units().error};
}

/// Returns a finding about the most likely cause and all causes that improve the fit equally.
/// @param causes  sorted; the cause that improves the fit most comes first
Finding report_finding(const MisfitProblem& problem, const std::vector<MisfitCause>& causes) {
  const MisfitCause& best = causes.front();
  const Eigen::Index worst = worst_of(problem.rmse, problem.noise);
  const Encoder sensor = used_encoders(problem.estimate)[static_cast<std::size_t>(worst)];
  std::vector<Message> alike;
  for (std::size_t i = 1; i < causes.size(); ++i) {
    if (!(causes[i].cost_per_reading < kCauseAlike * best.cost_per_reading)) break;
    alike.push_back(causes[i].finding.message);
  }
  Finding finding = best.finding;
  finding.confidence = 1.0 / static_cast<double>(1 + alike.size());
  finding.message = {MessageCode::kMisfitCause,
                     {{"causes", std::vector<Message>{best.finding.message}},
                      {"encoder", sensor.name},
                      {"window", problem.excerpt_limits.piece},
                      {"before", error_of(sensor, problem.rmse[worst])},
                      {"after", error_of(sensor, best.rmse[worst])}}};
  if (!alike.empty()) finding.message.arguments.push_back({"alternatives", std::move(alike)});
  return finding;
}

constexpr int kUnranked = 4;

/// Returns the rank of a cause among those with similar effects, 0 for the likeliest. Moments of
/// inertia are rarely measured. A mass is easier to measure than a gain, and clocks are rarely
/// wrong.
int rank_of(const MisfitCause& cause) {
  switch (cause.finding.message.code) {
    case MessageCode::kWrongInertia: return 0;
    case MessageCode::kWrongGain: return 1;
    case MessageCode::kWrongInertialParameter: return 2;
    case MessageCode::kClockRate:
    case MessageCode::kWrongLength: return 3;
    default: return kUnranked;
  }
}

/// Sorts causes by cost. If the best one has a rank, the likeliest of those with about equal cost
/// comes first.
void sort_causes(std::vector<MisfitCause>& causes) {
  std::ranges::stable_sort(causes, {}, &MisfitCause::cost_per_reading);
  if (rank_of(causes.front()) == kUnranked) return;
  const double cost_max = kEqualCost * causes.front().cost_per_reading;
  const auto end = std::ranges::find_if(
      causes, [&](const MisfitCause& cause) { return cause.cost_per_reading > cost_max; });
  const auto first = std::ranges::min_element(causes.begin(), end, {}, rank_of);
  std::rotate(causes.begin(), first, first + 1);
}

Finding unexplained_finding(const MisfitProblem& problem) {
  const Eigen::Index worst = worst_of(problem.rmse, problem.noise);
  const Encoder sensor = used_encoders(problem.estimate)[static_cast<std::size_t>(worst)];
  const double ratio = problem.rmse[worst] / problem.noise[worst];
  return make_finding({MessageCode::kUnexplainedMisfit,
                       {{"encoder", sensor.name},
                        {"window", problem.excerpt_limits.piece},
                        {"error", error_of(sensor, problem.rmse[worst])},
                        {"ratio", ratio}}},
                      "", sensor.name, {ratio, "-"});
}

bool is_misfit(const Eigen::VectorXd& rmse, const Eigen::VectorXd& noise) {
  return (rmse.array() > kClearlyLarger * noise.array()).any();
}

/// Selects excerpts of the recordings and fits them without any cause. Returns false if the
/// estimate fits the excerpts much worse than the whole recordings; such excerpts are useless.
/// @param whole  errors over whole recordings
bool use_excerpts(MisfitProblem& problem, const std::vector<Recording>& recordings,
                  const ExcerptLimits& budget, const Eigen::VectorXd& whole) {
  problem.excerpts = select_excerpts(problem.estimate, recordings, budget);
  problem.excerpt_limits = budget;
  const ExcerptFit without = problem.fit(problem.estimate);
  problem.cost_per_reading = without.cost_per_reading();
  if (!std::isfinite(problem.cost_per_reading)) return false;
  problem.rmse = without.rmse();
  if ((problem.rmse.array() > kNoWorse * whole.array()).any()) return false;
  problem.estimate = without.mechanism();
  return true;
}

/// Selects the most active excerpts, short enough that the simulation can predict their motion. If
/// errors were as large as the motion, any change could reduce them.
bool use_predictable_excerpts(MisfitProblem& problem, const std::vector<Recording>& recordings,
                              const Eigen::VectorXd& whole) {
  const Mechanism estimate = problem.estimate;
  const Eigen::VectorXd lost = kLost * readings_per_radian(estimate);
  ExcerptLimits budget = kMisfitExcerptLimits;
  for (int halving = 0; halving <= kExcerptHalvings; ++halving, budget.piece /= 2.0) {
    problem.estimate = estimate;
    if (!use_excerpts(problem, recordings, budget, whole)) return false;
    if ((problem.rmse.array() < lost.array()).all()) break;
  }
  return true;
}

/// Searches for causes of the residuals in the most active excerpts. Also reports if no cause
/// explains the residuals.
std::vector<Finding> explain_excerpts(MisfitProblem problem,
                                      const std::vector<Recording>& recordings) {
  const Finding unexplained = unexplained_finding(problem);
  std::vector<Finding> findings;
  bool beside_friction = false;
  while (std::ssize(findings) < kCauseRounds && is_misfit(problem.rmse, problem.noise)) {
    std::vector<MisfitCause> causes =
        try_misfit_causes(problem, findings.empty() ? recordings : std::vector<Recording>());
    if (is_stop_requested(problem.monitor)) return {};
    if (!causes.empty()) {
      sort_causes(causes);
      findings.push_back(report_finding(problem, causes));
      problem.include_cause(causes.front());
      continue;
    }
    // An incomplete friction law may hide other causes. Therefore search once more with all
    // friction terms free, if these improve the fit.
    const std::optional<MisfitCause> richer =
        beside_friction ? std::nullopt : fit_missing_friction(problem);
    if (!richer || !(kCauseAlike * richer->cost_per_reading < problem.cost_per_reading)) break;
    problem.include_cause(*richer);
    beside_friction = true;
  }
  if (findings.empty()) findings.push_back(unexplained);
  return findings;
}

}  // namespace

std::vector<Finding> find_misfit_causes(const Calibration& calibration, const Mechanism& mechanism,
                                        const std::vector<Recording>& recordings,
                                        const CalibrationMonitor& monitor) {
  // Causes are compared by open-loop simulations, which noisy controls do not determine.
  if (calibration.kind != EstimateKind::kPhysical ||
      !is_shooting_supported(mechanism, recordings) || !calibration.torque_predictions.empty()) {
    return {};
  }
  ComputationBudget budget{kWorkMost};
  MisfitProblem problem{.estimate = mechanism,
                        .excerpts = {},
                        .noise = estimate_reading_noise(mechanism, recordings),
                        .monitor = monitor,
                        .budget = budget,
                        .rmse = {}};
  copy_parameter_values(calibration.mechanism, problem.estimate);
  const auto errors = static_cast<Eigen::Index>(calibration.simulation.size());
  if (errors != problem.noise.size()) return {};
  Eigen::VectorXd whole(errors);
  for (Eigen::Index i = 0; i < errors; ++i) {
    whole[i] = calibration.simulation[static_cast<std::size_t>(i)].rmse;
  }
  if (!is_misfit(whole, problem.noise)) return {};
  if (monitor.on_stage) monitor.on_stage({EstimationStage::kMisfitCauses}, problem.estimate);
  std::vector<Finding> findings;
  MisfitProblem active = problem, slow = problem;
  if (use_predictable_excerpts(active, recordings, whole) && is_misfit(active.rmse, active.noise)) {
    findings = explain_excerpts(std::move(active), recordings);
  }
  // A slow effect shows only if whole recordings can be simulated.
  const bool is_explained =
      (!findings.empty() && findings.front().message.code != MessageCode::kUnexplainedMisfit) ||
      calibration.verdict.kind == VerdictKind::kAccepted || !calibration.refined;
  if (!is_explained && use_excerpts(slow, recordings, kCreepExcerptLimits, whole)) {
    std::vector<MisfitCause> causes;
    try_creeping_friction(slow, causes);
    // Over such long excerpts only a complete explanation counts: prediction may be hard.
    if (!causes.empty() && !is_misfit(causes.front().rmse, slow.noise)) {
      findings = {report_finding(slow, causes)};
    }
  }
  if (is_stop_requested(monitor)) return {};
  if (budget.exceeded && !findings.empty()) {
    findings.back().message.arguments.push_back(
        {"untested", std::vector<Message>{MessageCode::kUntestedCauses}});
  }
  return findings;
}

}  // namespace estimator
