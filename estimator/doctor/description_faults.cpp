#include "estimator/doctor/description_faults.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "estimator/doctor/excerpt.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/model/sensor.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/model/ties.hpp"

namespace estimator {
namespace {

/// A description with less misfit than this explains the recordings: what is left is as large as
/// their noise, or the shape of a friction law.
constexpr double kBadMisfit = 2.0;

/// By how much less misfit tells a mistake. Residuals count in tens at least, so this is a ratio of
/// likelihoods of e²⁰ and more. Over 240 random rigs (tests/bench/mistakes), half of them with
/// friction of another law, nothing that was none came through.
constexpr double kImprovement = 4.0;

/// Mistakes whose misfits differ by less than this factor cannot be told apart.
constexpr double kAlike = 1.5;

/// After the first few iterations, only what is within this factor of the best is fitted further.
constexpr double kPromising = 5.0;

/// At most so many mistakes are tried, times joints of the mechanism: the work of each rises with
/// its square.
constexpr int kTrialsMax = 160;
constexpr int kLoopWork = 6;  // of a joint in a mechanism with loops, in joints of a tree

/// Mistakes found one after another, each in the description without those before.
constexpr int kMistakesMax = 2;

constexpr std::size_t kAlternativesMax = 4;

/// Share of the accelerations that a description without its mistake leaves at most. With 0.5 a
/// pendulum that hardly moved in its noise was told to be in other units.
constexpr double kExplained = 0.3;

/// A free zero this far from where it is said to be is told, and the estimate begins there [rad].
constexpr double kFarZero = 0.25 * M_PI;
constexpr double kHalfTurn = 0.1;  // about π, what is told as half a turn [rad]

/// Share of the accelerations from which on it is told that nothing explains them.
constexpr double kUnexplainedTold = 0.5;

TrialFit fitted(const Mechanism& mechanism, const std::vector<Recording>& excerpts,
                const CalibrationMonitor& monitor) {
  TrialFit fit(mechanism, excerpts);
  fit.approach(monitor.stop);
  fit.settle(monitor.stop);
  return fit;
}

/// Whether the best trial explains the readings, and the description as given does not: neither
/// from its own start nor from the values, or values and states, that the trial found.
bool is_better(DescriptionTrials& trials, const Mechanism& mechanism,
               const std::vector<Recording>& excerpts, const CalibrationMonitor& monitor) {
  const Trial& best = trials.trials.front();
  // What moves too fast to be judged counts as no worse than what is just bad.
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
  apply_ties(from_there);
  TrialFit again = fitted(from_there, excerpts, monitor);
  TrialFit beside(from_there, excerpts, &best.fit);
  beside.settle(monitor.stop);
  if (beside.misfit() < again.misfit()) again = std::move(beside);
  if (again.misfit() < trials.given.misfit()) trials.given = std::move(again);
  return improves() && trials.given.misfit() > kBadMisfit;
}

std::string percent(double share) {
  return share > 0.1 ? std::to_string(std::lround(100.0 * share)) + " %"
                     : number_text(100.0 * share, 2) + " %";
}

/// As many of the trials as explain the readings like the best, in the order of hypotheses. A zero
/// that is fitted explains whatever a particular zero does, and is told only by itself.
std::vector<const Trial*> alike(const std::vector<Trial>& trials) {
  std::vector<const Trial*> result;
  const double most = kAlike * trials.front().fit.misfit();
  for (const Trial& trial : trials) {
    if (trial.fit.misfit() <= most) result.push_back(&trial);
  }
  std::ranges::sort(result, {}, [](const Trial* trial) { return trial->order; });
  const auto is_fitted = [](const Trial* trial) { return trial->hypothesis.size_parameter >= 0; };
  if (!std::ranges::all_of(result, is_fitted)) {
    std::erase_if(result, is_fitted);
  } else {
    result = {&trials.front()};
  }
  if (result.size() > kAlternativesMax) result.resize(kAlternativesMax);
  return result;
}

Finding told(const DescriptionTrials& trials) {
  const std::vector<const Trial*> causes = alike(trials.trials);
  const Hypothesis& first = causes.front()->hypothesis;
  Finding finding{.kind = first.kind, .severity = Severity::kFault, .channel = first.channel};
  for (const Trial* cause : causes) {
    const char* const between = cause == causes.front() ? "" : ", or ";
    finding.what += between + cause->hypothesis.mistake;
    finding.advice += between + cause->hypothesis.remedy;
  }
  if (first.size_parameter >= 0) {
    const Parameter& size =
        causes.front()->fit.mechanism().parameters[static_cast<std::size_t>(first.size_parameter)];
    finding.size = turn_difference(size.value);
    finding.unit = size.unit;
    finding.what += " by " + number_text(finding.size) + " " + size.unit;
  }
  finding.what += ": as described, " + percent(std::min(1.0, trials.given.unexplained())) +
                  " of the accelerations stay unexplained, and without the mistake " +
                  percent(trials.trials.front().fit.unexplained());
  finding.confidence = 1.0 / static_cast<double>(causes.size());
  return finding;
}

Finding unexplained(double share) {
  return {.kind = "unexplained",
          .severity = Severity::kWarning,
          .what = "the description explains the recordings badly (" +
                  percent(std::min(1.0, share)) +
                  " of the accelerations stay unexplained), and none of the usual mistakes "
                  "(inverted, shifted, swapped or wrongly scaled encoders, motors, signs of hinge "
                  "points, gravity) is why",
          .advice =
              "check axes, zero directions, hinge points and columns; look at a recording "
              "where one joint moves at a time"};
}

Finding not_checked(const Mechanism& mechanism, const FastJoint& fast) {
  const std::string& hinge = mechanism.hinges[static_cast<std::size_t>(fast.hinge)].name;
  return {.kind = "not-checked",
          .severity = Severity::kNote,
          .channel = hinge,
          .size = fast.share,
          .unit = "-",
          .what = "hinge " + quoted(hinge) + " turns by more than " + number_text(fast.turn) +
                  " rad within " + number_text(1e3 * fast.within, 3) + " ms in " +
                  percent(fast.share) +
                  " of the rows looked at, so the description was not checked",
          .advice = "record faster, where rows are that far apart, or a slower motion"};
}

/// The description with an encoder's zero where it is said to be, as if it were not free.
bool holds_with_zero_kept(const Mechanism& mechanism, const std::vector<Recording>& excerpts,
                          int offset, double misfit, const CalibrationMonitor& monitor) {
  Mechanism kept = mechanism;
  kept.parameters[static_cast<std::size_t>(offset)].free = false;
  return !(fitted(kept, excerpts, monitor).misfit() > std::max(kBadMisfit, kImprovement * misfit));
}

Finding far_zero(const Sensor& sensor, double size) {
  const bool half = std::abs(std::abs(size) - M_PI) < kHalfTurn;
  return {.kind = "shifted-zero",
          .severity = Severity::kWarning,
          .channel = sensor.name,
          .size = size,
          .unit = sensor.units().coordinate,
          .what = "the zero of the encoder of hinge " + quoted(sensor.name) + " is off by " +
                  (half ? "half a turn" : number_text(size) + " " + sensor.units().coordinate) +
                  " from what its free offset starts with",
          .advice = "nothing, if zeros are free on purpose; else turn `zero_direction` of hinge " +
                    quoted(sensor.name) + ", or give `offset_rad` in its column",
          .treatment = "its offset starts from there"};
}

/// Zeros that are free and that a fit which explains the readings found elsewhere.
void find_far_zeros(const Mechanism& mechanism, const std::vector<Recording>& excerpts,
                    const TrialFit& fit, const CalibrationMonitor& monitor,
                    DescriptionExamination& out) {
  if (!fit.is_valid() || !(fit.unexplained() < kExplained)) return;
  for (const Sensor& sensor : sensors_of(mechanism)) {
    const Parameter& offset = mechanism.parameters[static_cast<std::size_t>(sensor.offset)];
    if (!sensor.traits().wraps || !offset.free) continue;
    const double found = fit.mechanism().parameters[static_cast<std::size_t>(sensor.offset)].value;
    const double size = sensor.difference(found - offset.value);
    if (!(std::abs(size) > kFarZero)) continue;
    if (holds_with_zero_kept(mechanism, excerpts, sensor.offset, fit.misfit(), monitor)) continue;
    if (is_stopped(monitor)) return;
    out.findings.push_back(far_zero(sensor, size));
    // Whole turns are left away where bounds let them.
    const double nearest = offset.value + size;
    const bool fits = nearest >= offset.lower && nearest <= offset.upper;
    out.starts.push_back({sensor.offset, fits ? nearest : found});
  }
}

}  // namespace

DescriptionTrials try_mistakes(const Mechanism& mechanism, const std::vector<Recording>& excerpts,
                               const CalibrationMonitor& monitor) {
  DescriptionTrials result;
  result.given = fitted(mechanism, excerpts, monitor);
  if (!(result.given.misfit() > kBadMisfit)) return result;
  double best = std::numeric_limits<double>::infinity();
  // States of closed loops are dear to close: fewer mistakes, the likeliest first.
  const int work = mechanism.hinge_count() * (is_tree(mechanism) ? 1 : kLoopWork);
  const int most = kTrialsMax / std::max(1, work);
  for (Hypothesis& hypothesis : likely_mistakes(mechanism)) {
    if (is_stopped(monitor) || static_cast<int>(result.trials.size()) >= most) break;
    Trial trial{std::move(hypothesis), {}, static_cast<int>(result.trials.size())};
    trial.fit = TrialFit(mended(mechanism, trial.hypothesis), mended(excerpts, trial.hypothesis));
    trial.fit.approach(monitor.stop);
    best = std::min(best, trial.fit.misfit());
    result.trials.push_back(std::move(trial));
  }
  std::erase_if(result.trials,
                [&](const Trial& trial) { return !(trial.fit.misfit() <= kPromising * best); });
  for (Trial& trial : result.trials) trial.fit.settle(monitor.stop);
  std::ranges::stable_sort(result.trials, {},
                           [](const Trial& trial) { return trial.fit.misfit(); });
  return result;
}

DescriptionExamination examine_description(const Mechanism& mechanism,
                                           const std::vector<Recording>& recordings,
                                           const CalibrationMonitor& monitor) {
  const std::vector<Recording> excerpts = take_excerpts(mechanism, recordings, {});
  DescriptionExamination out;
  Mechanism described = mechanism;
  std::vector<Recording> readings = excerpts;
  for (int round = 0; round < kMistakesMax; ++round) {
    DescriptionTrials trials = try_mistakes(described, readings, monitor);
    if (is_stopped(monitor)) break;
    const bool explains = !(trials.given.misfit() > kBadMisfit);
    if (explains || trials.trials.empty() || !is_better(trials, described, readings, monitor)) {
      if (const std::optional<FastJoint>& fast = trials.given.fast_joint()) {
        out.findings.push_back(not_checked(mechanism, *fast));
      }
      const double left = trials.given.unexplained();
      if (!explains && trials.given.is_valid() && left > kUnexplainedTold) {
        out.findings.push_back(unexplained(left));
      }
      if (round == 0) find_far_zeros(mechanism, excerpts, trials.given, monitor, out);
      break;
    }
    const Trial& best = trials.trials.front();
    out.findings.push_back(told(trials));
    readings = mended(readings, best.hypothesis);
    described = mended(described, best.hypothesis);
    take_values(best.fit.mechanism(), described);
  }
  return out;
}

}  // namespace estimator
