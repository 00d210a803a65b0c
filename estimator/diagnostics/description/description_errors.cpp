#include "estimator/diagnostics/description/description_errors.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "estimator/diagnostics/description/excerpt.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

/// Misfit (TrialFit::misfit) below which a description fits. Residuals are then at noise level, or
/// due to the shape of the friction law.
constexpr double kBadMisfit = 2.0;

/// Factor by which the misfit must fall to confirm a description error. With tens of residuals or
/// more this is a likelihood ratio of at least e²⁰. It gave no false alarm on 240 random rigs
/// (tests/bench/mistakes), half of them with another friction law.
constexpr double kImprovement = 4.0;

/// Ratio of misfits below which two hypothetical errors cannot be distinguished.
constexpr double kAlike = 1.5;

/// Ratio of a trial's misfit to the best misfit above which the trial ends after a few iterations.
constexpr double kPromising = 5.0;

/// Limit on the number of trials times the number of joints. The work per trial grows with the
/// square of the number of joints.
constexpr int kTrialsMax = 160;
constexpr int kLoopWork = 6;  // cost of a joint in a mechanism with loops, in joints of a tree

/// Largest number of errors found one after another, each with all previous errors corrected.
constexpr int kMistakesMax = 2;

constexpr std::size_t kAlternativesMax = 4;

/// Largest share of the accelerations that a corrected description may leave unexplained. With 0.5,
/// a pendulum that hardly moved above its noise was reported to use other units.
constexpr double kExplained = 0.3;

/// Distance of a free encoder zero from its given value above which it is reported and gives a new
/// initial value [rad].
constexpr double kFarZero = 0.25 * M_PI;
constexpr double kHalfTurn = 0.1;  // tolerance about π that is reported as half a turn [rad]

/// Unexplained share of the accelerations above which "unexplained" is reported.
constexpr double kReportedUnexplainedShare = 0.5;

TrialFit fitted(const Mechanism& mechanism, const std::vector<Recording>& excerpts,
                const CalibrationMonitor& monitor) {
  TrialFit fit(mechanism, excerpts);
  fit.fit_coarse(monitor.stop);
  fit.fit_fine(monitor.stop);
  return fit;
}

/// Returns whether the best trial fits and the description as given does not. Also tries to fit the
/// given description from the trial's parameter values, and from its values and states.
bool is_better(DescriptionTrials& trials, const Mechanism& mechanism,
               const std::vector<Recording>& excerpts, const CalibrationMonitor& monitor) {
  const DescriptionTrial& best = trials.trials.front();
  // A motion too fast to test counts as just bad enough.
  const bool is_judged = !trials.given.fast_joint();
  const auto improves = [&] {
    const double given = is_judged ? trials.given.misfit() : kImprovement * kBadMisfit;
    return best.fit.misfit() * kImprovement < given && best.fit.unexplained() < kExplained;
  };
  if (!improves()) return false;
  Mechanism from_there = mechanism;
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    if (!mechanism.parameters[i].free) continue;
    from_there.parameters[i].value = best.fit.mechanism().parameters[i].value;
  }
  apply_dependencies(from_there);
  TrialFit again = fitted(from_there, excerpts, monitor);
  TrialFit beside(from_there, excerpts, &best.fit);
  beside.fit_fine(monitor.stop);
  if (beside.misfit() < again.misfit()) again = std::move(beside);
  if (again.misfit() < trials.given.misfit()) trials.given = std::move(again);
  return improves() && trials.given.misfit() > kBadMisfit;
}

Quantity percent(double share) { return {100.0 * std::min(1.0, share), "%"}; }

/// Returns the trials that fit about as well as the best trial, in the order of hypotheses. A
/// fitted encoder zero also explains any particular zero error, so it is reported only if no other
/// hypothesis fits.
std::vector<const DescriptionTrial*> alike(const std::vector<DescriptionTrial>& trials) {
  std::vector<const DescriptionTrial*> result;
  const double most = kAlike * trials.front().fit.misfit();
  for (const DescriptionTrial& trial : trials) {
    if (trial.fit.misfit() <= most) result.push_back(&trial);
  }
  std::ranges::sort(result, {}, [](const DescriptionTrial* trial) { return trial->order; });
  const auto is_fitted = [](const DescriptionTrial* trial) {
    return trial->hypothesis.size_parameter >= 0;
  };
  if (!std::ranges::all_of(result, is_fitted)) {
    std::erase_if(result, is_fitted);
  } else {
    result = {&trials.front()};
  }
  if (result.size() > kAlternativesMax) result.resize(kAlternativesMax);
  return result;
}

Finding report_finding(const DescriptionTrials& trials) {
  std::vector<Message> causes;
  const std::vector<const DescriptionTrial*> likeliest = alike(trials.trials);
  for (const DescriptionTrial* trial : likeliest) causes.push_back(trial->hypothesis.message);
  const double confidence = 1.0 / static_cast<double>(causes.size());
  const DescriptionTrial& first = *likeliest.front();
  const int size_parameter = first.hypothesis.size_parameter;
  Quantity size{std::numeric_limits<double>::quiet_NaN()};
  if (size_parameter >= 0) {
    const Parameter& offset =
        first.fit.mechanism().parameters[static_cast<std::size_t>(size_parameter)];
    size = {wrapped_difference(offset.value), offset.unit};
    causes.front().arguments.push_back({"size", size});
  }
  Finding finding = make_finding({MessageCode::kDescriptionError,
                                  {{"causes", std::move(causes)},
                                   {"unexplained", percent(trials.given.unexplained())},
                                   {"left", percent(trials.trials.front().fit.unexplained())}}},
                                 "", first.hypothesis.channel, size);
  finding.confidence = confidence;
  return finding;
}

Finding not_checked(const Mechanism& mechanism, const FastJoint& fast) {
  const std::string& joint = mechanism.joints[static_cast<std::size_t>(fast.joint)].name;
  return make_finding({MessageCode::kDescriptionNotChecked,
                       {{"joint", joint},
                        {"angle", Quantity{fast.turn, "rad"}},
                        {"time", Quantity{1e3 * fast.within, "ms"}},
                        {"share", percent(fast.share)}}},
                      "", joint, {fast.share, "-"});
}

/// Returns whether the description fits with an encoder's zero fixed at its given value.
bool holds_with_zero_kept(const Mechanism& mechanism, const std::vector<Recording>& excerpts,
                          int offset, double misfit, const CalibrationMonitor& monitor) {
  Mechanism kept = mechanism;
  kept.parameters[static_cast<std::size_t>(offset)].free = false;
  return !(fitted(kept, excerpts, monitor).misfit() > std::max(kBadMisfit, kImprovement * misfit));
}

Finding far_zero(const Encoder& sensor, double size) {
  const Quantity distance{size, sensor.units().coordinate};
  const bool is_half_turn = std::abs(std::abs(size) - M_PI) < kHalfTurn;
  Message message(MessageCode::kDistantZero, {{"joint", sensor.name}, {"half_turn", is_half_turn}});
  if (!is_half_turn) message.arguments.push_back({"size", distance});
  Finding finding = make_finding(std::move(message), "", sensor.name, distance);
  finding.treated = true;
  return finding;
}

/// Finds free encoder zeros that a fit estimates far from their given values.
void find_far_zeros(const Mechanism& mechanism, const std::vector<Recording>& excerpts,
                    const TrialFit& fit, const CalibrationMonitor& monitor,
                    DescriptionExamination& out) {
  if (!fit.is_valid() || !(fit.unexplained() < kExplained)) return;
  for (const Encoder& sensor : used_encoders(mechanism)) {
    const Parameter& offset = mechanism.parameters[static_cast<std::size_t>(sensor.offset)];
    if (!sensor.traits().wraps || !offset.free) continue;
    const double found = fit.mechanism().parameters[static_cast<std::size_t>(sensor.offset)].value;
    const double size = sensor.difference(found - offset.value);
    if (!(std::abs(size) > kFarZero)) continue;
    if (holds_with_zero_kept(mechanism, excerpts, sensor.offset, fit.misfit(), monitor)) continue;
    if (is_stopped(monitor)) return;
    out.findings.push_back(far_zero(sensor, size));
    // Remove whole turns if the bounds permit.
    const double nearest = offset.value + size;
    const bool fits = nearest >= offset.lower && nearest <= offset.upper;
    out.starts.push_back({sensor.offset, fits ? nearest : found});
  }
}

}  // namespace

DescriptionTrials try_description_errors(const Mechanism& mechanism,
                                         const std::vector<Recording>& excerpts,
                                         const CalibrationMonitor& monitor) {
  DescriptionTrials result;
  result.given = fitted(mechanism, excerpts, monitor);
  if (!(result.given.misfit() > kBadMisfit)) return result;
  double best = std::numeric_limits<double>::infinity();
  // Loops are expensive to close, so try fewer errors, the likeliest first.
  const int work = mechanism.joint_count() * (is_tree(mechanism) ? 1 : kLoopWork);
  const int most = kTrialsMax / std::max(1, work);
  for (Hypothesis& hypothesis : common_description_errors(mechanism)) {
    if (is_stopped(monitor) || static_cast<int>(result.trials.size()) >= most) break;
    DescriptionTrial trial{std::move(hypothesis), {}, static_cast<int>(result.trials.size())};
    trial.fit =
        TrialFit(corrected(mechanism, trial.hypothesis), corrected(excerpts, trial.hypothesis));
    trial.fit.fit_coarse(monitor.stop);
    best = std::min(best, trial.fit.misfit());
    result.trials.push_back(std::move(trial));
  }
  std::erase_if(result.trials, [&](const DescriptionTrial& trial) {
    return !(trial.fit.misfit() <= kPromising * best);
  });
  for (DescriptionTrial& trial : result.trials) trial.fit.fit_fine(monitor.stop);
  std::ranges::stable_sort(result.trials, {},
                           [](const DescriptionTrial& trial) { return trial.fit.misfit(); });
  return result;
}

DescriptionExamination examine_description(const Mechanism& mechanism,
                                           const std::vector<Recording>& recordings,
                                           const CalibrationMonitor& monitor) {
  const std::vector<Recording> excerpts = select_excerpts(mechanism, recordings, {});
  DescriptionExamination out;
  Mechanism described = mechanism;
  std::vector<Recording> readings = excerpts;
  for (int round = 0; round < kMistakesMax; ++round) {
    DescriptionTrials trials = try_description_errors(described, readings, monitor);
    if (is_stopped(monitor)) break;
    const bool explains = !(trials.given.misfit() > kBadMisfit);
    if (explains || trials.trials.empty() || !is_better(trials, described, readings, monitor)) {
      if (const std::optional<FastJoint>& fast = trials.given.fast_joint()) {
        out.findings.push_back(not_checked(mechanism, *fast));
      }
      const double left = trials.given.unexplained();
      if (!explains && trials.given.is_valid() && left > kReportedUnexplainedShare) {
        out.findings.push_back(
            make_finding({MessageCode::kUnexplainedMotion, {{"share", percent(left)}}}));
      }
      if (round == 0) find_far_zeros(mechanism, excerpts, trials.given, monitor, out);
      break;
    }
    const DescriptionTrial& best = trials.trials.front();
    out.findings.push_back(report_finding(trials));
    readings = corrected(readings, best.hypothesis);
    described = corrected(described, best.hypothesis);
    copy_parameter_values(best.fit.mechanism(), described);
  }
  return out;
}

}  // namespace estimator
