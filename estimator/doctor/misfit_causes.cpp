#include "estimator/doctor/misfit_causes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "estimator/doctor/creep_trial.hpp"
#include "estimator/doctor/law_trials.hpp"
#include "estimator/doctor/misfit_trials.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/model/sensor.hpp"

namespace estimator {
namespace {

/// Residuals this many times as large as the readings' noise ask for a cause: a cause is told only
/// where it takes the cost down to six tenths, and noise is left.
constexpr double kClearlyLarger = 1.3;

/// Causes told one after another, each beside those before.
constexpr int kCauseRounds = 2;

/// Errors over pieces may be this many times as large as those over whole recordings.
constexpr double kNoWorse = 1.5;

/// Work that causes may take, in units of PieceFit::work: some five seconds of one processor.
constexpr double kWorkMost = 1.5e8;

/// Errors that are as large as motions are [rad]; of slides in proportion.
constexpr double kLost = 0.05;
/// How many times pieces may become half as long for them.
constexpr int kPieceHalvings = 3;

/// Costs that differ by less than this factor are as good as the same: such causes are told
/// together.
constexpr double kCauseAlike = 1.3;

/// The sensor whose errors are largest beside its noise.
Eigen::Index worst_of(const Eigen::VectorXd& rmse, const Eigen::VectorXd& noise) {
  Eigen::Index worst = 0;
  rmse.cwiseQuotient(noise).maxCoeff(&worst);
  return worst;
}

std::string error_text(const Sensor& sensor, double error) {
  return number_text(1e3 * error, 2) + " " + sensor.units().error;
}

/// The most likely cause, and those that help as much.
/// @param causes  from the most helpful on
Finding told(const MisfitCase& on, const std::vector<Cause>& causes) {
  const Cause& best = causes.front();
  const Eigen::Index worst = worst_of(on.rmse, on.noise);
  const Sensor sensor = sensors_of(on.estimate)[static_cast<std::size_t>(worst)];
  Finding finding = best.finding;
  finding.what += "; with that, errors of hinge " + quoted(sensor.name) + " over pieces of " +
                  number_text(on.excerpts.piece) + " s fall from " +
                  error_text(sensor, on.rmse[worst]) + " to " +
                  error_text(sensor, best.rmse[worst]);
  int alike = 1;
  for (std::size_t i = 1; i < causes.size(); ++i) {
    if (!(causes[i].cost_per_reading < kCauseAlike * best.cost_per_reading)) break;
    finding.what += (alike == 1 ? "; it may as well be that " : ", or ") + causes[i].finding.what;
    ++alike;
  }
  finding.confidence = 1.0 / alike;
  return finding;
}

Finding none_explains(const MisfitCase& on) {
  const Eigen::Index worst = worst_of(on.rmse, on.noise);
  const Sensor sensor = sensors_of(on.estimate)[static_cast<std::size_t>(worst)];
  return {.kind = "misfit",
          .severity = Severity::kNote,
          .channel = sensor.name,
          .size = on.rmse[worst] / on.noise[worst],
          .unit = "-",
          .what = "errors of hinge " + quoted(sensor.name) + " over pieces of " +
                  number_text(on.excerpts.piece) + " s are " + error_text(sensor, on.rmse[worst]) +
                  ", " + number_text(on.rmse[worst] / on.noise[worst], 2) +
                  " times the noise of its readings; none of delay, clock, clipping, lengths, "
                  "friction, its creep and air explains them",
          .advice = "the interval that holds is that of the scatter between pieces"};
}

bool is_misfit(const Eigen::VectorXd& rmse, const Eigen::VectorXd& noise) {
  return (rmse.array() > kClearlyLarger * noise.array()).any();
}

/// The case on pieces of the recordings, fitted without any cause. False where the estimate does
/// not even fit them as well as the whole: such tell nothing.
///
/// @param whole  errors over whole recordings
bool take_pieces(MisfitCase& on, const std::vector<Recording>& recordings,
                 const ExcerptBudget& budget, const Eigen::VectorXd& whole) {
  on.pieces = take_excerpts(on.estimate, recordings, budget);
  on.excerpts = budget;
  const PieceFit without = on.fit(on.estimate);
  on.cost_per_reading = without.cost_per_reading();
  if (!std::isfinite(on.cost_per_reading)) return false;
  on.rmse = errors_of(without, on.noise.size());
  if ((on.rmse.array() > kNoWorse * whole.array()).any()) return false;
  on.estimate = without.mechanism();
  return true;
}

/// The same on lively pieces, so short that motion is predicted over them: from errors as large as
/// the motion itself, whatever is changed may lead to less.
bool take_predictable(MisfitCase& on, const std::vector<Recording>& recordings,
                      const Eigen::VectorXd& whole) {
  const Mechanism estimate = on.estimate;
  const Eigen::VectorXd lost = kLost * sensor_scales(estimate);
  ExcerptBudget budget = kMisfitBudget;
  for (int halving = 0; halving <= kPieceHalvings; ++halving, budget.piece /= 2.0) {
    on.estimate = estimate;
    if (!take_pieces(on, recordings, budget, whole)) return false;
    if ((on.rmse.array() < lost.array()).all()) break;
  }
  return true;
}

/// Causes that lively pieces show, or that none explains them.
std::vector<Finding> explain_pieces(MisfitCase on, const std::vector<Recording>& recordings) {
  const Finding unexplained = none_explains(on);
  std::vector<Finding> findings;
  bool beside_friction = false;
  while (std::ssize(findings) < kCauseRounds && is_misfit(on.rmse, on.noise)) {
    std::vector<Cause> causes =
        try_causes(on, findings.empty() ? recordings : std::vector<Recording>());
    if (is_stopped(on.monitor)) return {};
    if (!causes.empty()) {
      std::ranges::stable_sort(causes, {}, &Cause::cost_per_reading);
      findings.push_back(told(on, causes));
      on.take(causes.front());
      continue;
    }
    // What a law of friction leaves may hide anything else: once more beside all of it, where that
    // is not as good as none.
    const std::optional<Cause> richer = beside_friction ? std::nullopt : fit_all_friction(on);
    if (!richer || !(kCauseAlike * richer->cost_per_reading < on.cost_per_reading)) break;
    on.take(*richer);
    beside_friction = true;
  }
  if (findings.empty()) findings.push_back(unexplained);
  return findings;
}

}  // namespace

std::vector<Finding> explain_misfit(const Calibration& calibration, const Mechanism& mechanism,
                                    const std::vector<Recording>& recordings,
                                    const CalibrationMonitor& monitor) {
  if (calibration.kind != EstimateKind::kPhysical || !can_shoot(mechanism, recordings)) return {};
  WorkBudget budget{kWorkMost};
  MisfitCase on{.estimate = mechanism,
                .pieces = {},
                .noise = reading_noise(mechanism, recordings),
                .monitor = monitor,
                .budget = budget,
                .rmse = {}};
  take_values(calibration.mechanism, on.estimate);
  const auto errors = static_cast<Eigen::Index>(calibration.simulation.size());
  if (errors != on.noise.size()) return {};
  Eigen::VectorXd whole(errors);
  for (Eigen::Index i = 0; i < errors; ++i) {
    whole[i] = calibration.simulation[static_cast<std::size_t>(i)].rmse;
  }
  if (!is_misfit(whole, on.noise)) return {};
  if (monitor.on_stage) monitor.on_stage("causes of the misfit", on.estimate);
  std::vector<Finding> findings;
  MisfitCase lively = on, slow = on;
  if (take_predictable(lively, recordings, whole) && is_misfit(lively.rmse, lively.noise)) {
    findings = explain_pieces(std::move(lively), recordings);
  }
  // Over seconds something shows only where whole recordings can be simulated.
  const bool is_explained = (!findings.empty() && findings.front().kind != "misfit") ||
                            calibration.verdict.kind == VerdictKind::kHolds || !calibration.refined;
  if (!is_explained && take_pieces(slow, recordings, kCreepBudget, whole)) {
    std::vector<Cause> causes;
    try_creep(slow, causes);
    // Over so long a time only what explains all tells anything: motion may be hard to predict.
    if (!causes.empty() && !is_misfit(causes.front().rmse, slow.noise)) {
      findings = {told(slow, causes)};
    }
  }
  if (is_stopped(monitor)) return {};
  if (budget.exceeded && !findings.empty()) {
    findings.back().what +=
        "; not every cause was tried: the mechanism or its excitation asks for "
        "more work than is spent on that";
  }
  return findings;
}

}  // namespace estimator
