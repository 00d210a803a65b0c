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

/// Length and sampling of excerpts in which slow effects are tested, such as friction that decays a
/// swing. Creep also takes seconds, with joints almost at rest.
constexpr ExcerptLimits kLongExcerptLimits = {
    .duration = 30.0, .piece = 15.0, .period = 0.01, .rows = 2500};

/// Ratio of the errors over whole recordings to those over short excerpts above which slow effects
/// are tested first.
constexpr double kSlowRatio = 3.0;

/// Returns the sensor with the largest ratio of error to noise.
Eigen::Index worst_of(const Eigen::VectorXd& rmse, const Eigen::VectorXd& noise) {
  Eigen::Index worst = 0;
  rmse.cwiseQuotient(noise).maxCoeff(&worst);
  return worst;
}

double cost_of(const MisfitCause& cause) { return cause.fit.cost_per_reading(); }

Quantity error_of(const Encoder& sensor, double error) {
  return {1e3 * error, sensor.units().error};
}

/// Returns a finding about the most likely cause and all causes that improve the fit equally.
/// @param causes  sorted; the cause that improves the fit most comes first
Finding report_finding(const MisfitProblem& problem, const std::vector<MisfitCause>& causes) {
  const MisfitCause& best = causes.front();
  const Eigen::Index worst = worst_of(problem.fitted.rmse(), problem.noise);
  const Encoder sensor = used_encoders(problem.estimate)[static_cast<std::size_t>(worst)];
  std::vector<Message> alike;
  for (std::size_t i = 1; i < causes.size(); ++i) {
    if (!(cost_of(causes[i]) < kCauseAlike * cost_of(best))) break;
    alike.push_back(causes[i].finding.message);
  }
  Finding finding = best.finding;
  finding.confidence = 1.0 / static_cast<double>(1 + alike.size());
  finding.message = {MessageCode::kMisfitCause,
                     {{"causes", std::vector<Message>{best.finding.message}},
                      {"encoder", sensor.name},
                      {"window", problem.excerpt_limits.piece},
                      {"before", error_of(sensor, problem.fitted.rmse()[worst])},
                      {"after", error_of(sensor, best.fit.rmse()[worst])}}};
  if (!alike.empty()) finding.message.arguments.push_back({"alternatives", std::move(alike)});
  return finding;
}

constexpr int kUnranked = 4;
constexpr int kUnlikely = 5;

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
    case MessageCode::kVibration:
      return kUnlikely;
    default: return kUnranked;
  }
}

/// Sorts causes by cost. If the best one has a rank, the likeliest of those with about equal cost
/// comes first.
void sort_causes(std::vector<MisfitCause>& causes) {
  std::ranges::stable_sort(causes, {}, cost_of);
  if (rank_of(causes.front()) == kUnranked) return;
  const double cost_max = kEqualCost * cost_of(causes.front());
  const auto end = std::ranges::find_if(
      causes, [&](const MisfitCause& cause) { return cost_of(cause) > cost_max; });
  const auto first = std::ranges::min_element(causes.begin(), end, {}, rank_of);
  std::rotate(causes.begin(), first, first + 1);
}

Finding unexplained_finding(const MisfitProblem& problem) {
  const Eigen::Index worst = worst_of(problem.fitted.rmse(), problem.noise);
  const Encoder sensor = used_encoders(problem.estimate)[static_cast<std::size_t>(worst)];
  const double ratio = problem.fitted.rmse()[worst] / problem.noise[worst];
  return make_finding({MessageCode::kUnexplainedMisfit,
                       {{"encoder", sensor.name},
                        {"window", problem.excerpt_limits.piece},
                        {"error", error_of(sensor, problem.fitted.rmse()[worst])},
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
  problem.fitted = problem.fit(problem.estimate);
  if (!std::isfinite(problem.fitted.cost())) return false;
  if ((problem.fitted.rmse().array() > kNoWorse * whole.array()).any()) return false;
  problem.estimate = problem.fitted.mechanism();
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
    if ((problem.fitted.rmse().array() < lost.array()).all()) break;
  }
  return true;
}

/// Searches for causes of the residuals in the most active excerpts, in addition to those found.
void explain_excerpts(MisfitProblem problem, const std::vector<Recording>& recordings,
                      std::vector<Finding>& findings) {
  bool beside_friction = false;
  while (std::ssize(findings) < kCauseRounds && is_misfit(problem.fitted.rmse(), problem.noise)) {
    std::vector<MisfitCause> causes =
        try_misfit_causes(problem, findings.empty() ? recordings : std::vector<Recording>());
    if (is_stop_requested(problem.monitor)) return;
    // Errors that stay as large as the motion can be reduced by any change.
    const Eigen::ArrayXd lost = kLost * readings_per_radian(problem.estimate).array();
    std::erase_if(causes, [&](const MisfitCause& cause) {
      return (cause.fit.rmse().array() >= lost).any();
    });
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
    if (!richer || !(kCauseAlike * cost_of(*richer) < problem.fitted.cost_per_reading())) {
      break;
    }
    problem.include_cause(*richer);
    beside_friction = true;
  }
}

/// Returns whether errors over whole recordings are much larger than those over short excerpts.
bool is_slow(const Eigen::VectorXd& whole, const MisfitProblem& active) {
  return (whole.array() > kSlowRatio * active.fitted.rmse().array()).any();
}

/// Searches for causes of errors that grow over many seconds, and includes the best in `active`.
void explain_slow_errors(MisfitProblem slow, const std::vector<Recording>& recordings,
                         const Eigen::VectorXd& whole, MisfitProblem& active,
                         std::vector<Finding>& findings) {
  if (!use_excerpts(slow, recordings, kLongExcerptLimits, whole)) return;
  std::vector<MisfitCause> causes;
  try_slow_terms(slow, causes);
  if (causes.empty()) return;
  sort_causes(causes);
  // With the cause, errors must no longer grow with the length of the excerpts.
  if ((causes.front().fit.rmse().array() > kNoWorse * active.fitted.rmse().array()).any()) return;
  MisfitProblem with_cause = slow;
  with_cause.estimate = causes.front().mechanism;
  if (!use_predictable_excerpts(with_cause, recordings, whole)) return;
  findings.push_back(report_finding(slow, causes));
  active.estimate = with_cause.estimate;
  active.excerpts = with_cause.excerpts;
  active.excerpt_limits = with_cause.excerpt_limits;
  active.fitted = with_cause.fitted;
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
                        .budget = budget};
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
  std::optional<Finding> unexplained;
  if (use_predictable_excerpts(active, recordings, whole)) {
    if (is_misfit(active.fitted.rmse(), active.noise)) unexplained = unexplained_finding(active);
    if (calibration.refined && is_slow(whole, active)) {
      explain_slow_errors(problem, recordings, whole, active, findings);
    }
    explain_excerpts(std::move(active), recordings, findings);
  }
  // Creep shows only if whole recordings can be simulated.
  const bool is_explained = !findings.empty() ||
                            calibration.verdict.kind == VerdictKind::kAccepted ||
                            !calibration.refined;
  if (!is_explained && use_excerpts(slow, recordings, kLongExcerptLimits, whole)) {
    std::vector<MisfitCause> causes;
    try_creeping_friction(slow, causes);
    // Over such long excerpts only a complete explanation counts: prediction may be hard.
    if (!causes.empty() && !is_misfit(causes.front().fit.rmse(), slow.noise)) {
      findings = {report_finding(slow, causes)};
    }
  }
  if (findings.empty() && unexplained) findings.push_back(*unexplained);
  if (is_stop_requested(monitor)) return {};
  if (budget.exceeded && !findings.empty()) {
    findings.back().message.arguments.push_back(
        {"untested", std::vector<Message>{MessageCode::kUntestedCauses}});
  }
  return findings;
}

}  // namespace estimator
