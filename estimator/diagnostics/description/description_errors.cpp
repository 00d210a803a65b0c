#include "estimator/diagnostics/description/description_errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "estimator/diagnostics/description/excerpt.hpp"
#include "estimator/fit/physical/shooting/control_noise.hpp"
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
constexpr double kEqual = 1.5;

/// Factor by which the mean square of one joint's unexplained accelerations must fall to confirm an
/// error while errors of other joints remain.
constexpr double kJointImprovement = 10.0;

/// Ratio of a trial's misfit to the best misfit above which the trial ends after a few iterations.
constexpr double kPromising = 5.0;

/// Limit on the number of trials times the number of joints. The work per trial grows with the
/// square of the number of joints.
constexpr int kTrialsMax = 160;
constexpr int kLoopWork = 6;  // cost of a joint in a mechanism with loops, in joints of a tree

/// Largest number of errors found one after another, each with all previous errors corrected.
constexpr int kErrorsMax = 2;

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
  fit.run_coarse_fit(monitor.stop);
  fit.run_fine_fit(monitor.stop);
  return fit;
}

/// Fits the given description again from a trial's parameter values, and from its values and
/// states. Keeps the best fit.
void refit_given(TrialFit& given, const TrialFit& trial, const Mechanism& mechanism,
                 const std::vector<Recording>& excerpts, const CalibrationMonitor& monitor) {
  Mechanism from_there = mechanism;
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    if (!mechanism.parameters[i].free) continue;
    from_there.parameters[i].value = trial.mechanism().parameters[i].value;
  }
  apply_dependencies(from_there);
  TrialFit again = fitted(from_there, excerpts, monitor);
  TrialFit beside(from_there, excerpts, &trial);
  beside.run_fine_fit(monitor.stop);
  if (beside.misfit() < again.misfit()) again = std::move(beside);
  if (again.misfit() < given.misfit()) given = std::move(again);
}

/// Returns whether the best trial fits and the description as given does not.
bool explains_better(DescriptionErrorTrials& trials, const Mechanism& mechanism,
                     const std::vector<Recording>& excerpts, const CalibrationMonitor& monitor) {
  const DescriptionErrorTrial& best = trials.trials.front();
  // A motion too fast to test counts as just bad enough.
  const bool is_judged = !trials.given.fast_joint();
  const auto improves = [&] {
    const double given = is_judged ? trials.given.misfit() : kImprovement * kBadMisfit;
    return best.fit.misfit() * kImprovement < given &&
           best.fit.unexplained_acceleration_share() < kExplained;
  };
  if (!improves()) return false;
  refit_given(trials.given, best.fit, mechanism, excerpts, monitor);
  return improves() && trials.given.misfit() > kBadMisfit;
}

/// Returns the factor by which a trial reduces the mean square of a coordinate's unexplained
/// accelerations; 0 if they remain large or those of another coordinate rise.
double improvement_of_coordinate(const Eigen::VectorXd& given, const Eigen::VectorXd& trial,
                                 Eigen::Index coordinate) {
  if (trial.size() != given.size() || !(trial[coordinate] < kExplained)) return 0.0;
  if (!(trial.array().square() <= kEqual * given.array().square()).all()) return 0.0;
  return std::pow(given[coordinate] / trial[coordinate], 2);
}

/// Searches for an error whose correction explains the accelerations of one coordinate, while those
/// of others remain unexplained. Keeps only trials that explain this coordinate about as well as
/// the best one, which comes first; returns false if there is none.
bool explains_one_coordinate(DescriptionErrorTrials& trials, const Mechanism& mechanism,
                             const std::vector<Recording>& excerpts,
                             const CalibrationMonitor& monitor) {
  std::vector<DescriptionErrorTrial>& all = trials.trials;
  const auto improvement = [&](const DescriptionErrorTrial& trial, Eigen::Index c) {
    return improvement_of_coordinate(trials.given.unexplained_accelerations(),
                                     trial.fit.unexplained_accelerations(), c);
  };
  double most = 0.0;
  Eigen::Index coordinate = 0;
  std::size_t best = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (Eigen::Index c = 0; c < trials.given.unexplained_accelerations().size(); ++c) {
      if (!(improvement(all[i], c) > most)) continue;
      most = improvement(all[i], c);
      coordinate = c;
      best = i;
    }
  }
  if (!(most >= kJointImprovement)) return false;
  refit_given(trials.given, all[best].fit, mechanism, excerpts, monitor);
  if (!(improvement(all[best], coordinate) >= kJointImprovement)) return false;
  std::swap(all[0], all[best]);
  const double least = improvement(all[0], coordinate) / kEqual;
  std::erase_if(all, [&](const DescriptionErrorTrial& trial) {
    return !(improvement(trial, coordinate) >= least);
  });
  return true;
}

Quantity percent(double share) { return {100.0 * std::min(1.0, share), "%"}; }

/// Returns the trials that fit about as well as the best trial, in the order of hypotheses. A
/// fitted encoder zero also explains any particular zero error, so it is reported only beside other
/// fitted positions. For a joint without gravity, it is equivalent to a misplaced end stop, which
/// is likelier and precedes it.
std::vector<const DescriptionErrorTrial*> equally_good_trials(
    const std::vector<DescriptionErrorTrial>& trials) {
  std::vector<const DescriptionErrorTrial*> result;
  const double most = kEqual * trials.front().fit.misfit();
  for (const DescriptionErrorTrial& trial : trials) {
    if (trial.fit.misfit() <= most) result.push_back(&trial);
  }
  std::ranges::sort(result, {}, [](const DescriptionErrorTrial* trial) { return trial->order; });
  const auto is_shifted_zero = [](const DescriptionErrorTrial& trial) {
    return trial.hypothesis.message.code == MessageCode::kShiftedZero;
  };
  const bool is_fitted = std::ranges::all_of(result, [](const DescriptionErrorTrial* trial) {
    return trial->hypothesis.size_parameter >= 0;
  });
  const auto best_zero = std::ranges::find_if(trials, is_shifted_zero);
  std::erase_if(result, [&](const DescriptionErrorTrial* trial) {
    return is_shifted_zero(*trial) && !(is_fitted && trial == &*best_zero);
  });
  if (result.size() > kAlternativesMax) result.resize(kAlternativesMax);
  return result;
}

/// Returns the fitted encoder zero or position of an end stop.
Quantity fitted_size(const DescriptionErrorTrial& trial) {
  const Parameter& fitted = trial.fit.mechanism().at(trial.hypothesis.size_parameter);
  const bool is_zero = trial.hypothesis.message.code == MessageCode::kShiftedZero;
  return {is_zero ? wrap_angle_difference(fitted.value) : fitted.value, fitted.unit};
}

Finding report_finding(const DescriptionErrorTrials& trials) {
  std::vector<Message> causes;
  const std::vector<const DescriptionErrorTrial*> likeliest = equally_good_trials(trials.trials);
  for (const DescriptionErrorTrial* trial : likeliest) {
    causes.push_back(trial->hypothesis.message);
    if (trial->hypothesis.size_parameter < 0) continue;
    causes.back().arguments.push_back({"size", fitted_size(*trial)});
  }
  const double confidence = 1.0 / static_cast<double>(causes.size());
  const DescriptionErrorTrial& first = *likeliest.front();
  const Quantity size = first.hypothesis.size_parameter < 0
                            ? Quantity{std::numeric_limits<double>::quiet_NaN()}
                            : fitted_size(first);
  Finding finding = make_finding(
      {MessageCode::kDescriptionError,
       {{"causes", std::move(causes)},
        {"unexplained", percent(trials.given.unexplained_acceleration_share())},
        {"left", percent(trials.trials.front().fit.unexplained_acceleration_share())}}},
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
bool fits_with_fixed_zero(const Mechanism& mechanism, const std::vector<Recording>& excerpts,
                          int offset, double misfit, const CalibrationMonitor& monitor) {
  Mechanism kept = mechanism;
  kept.at(offset).free = false;
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
  if (!fit.is_valid() || !(fit.unexplained_acceleration_share() < kExplained)) return;
  for (const Encoder& sensor : used_encoders(mechanism)) {
    const Parameter& offset = mechanism.at(sensor.offset);
    if (!sensor.kind_traits().wraps || !offset.free) continue;
    const double found = fit.mechanism().at(sensor.offset).value;
    const double size = sensor.reading_difference(found - offset.value);
    if (!(std::abs(size) > kFarZero)) continue;
    if (fits_with_fixed_zero(mechanism, excerpts, sensor.offset, fit.misfit(), monitor)) continue;
    if (is_stop_requested(monitor)) return;
    out.findings.push_back(far_zero(sensor, size));
    // Remove whole turns if the bounds permit.
    const double nearest = offset.value + size;
    const bool fits = nearest >= offset.lower && nearest <= offset.upper;
    out.starts.push_back({sensor.offset, fits ? nearest : found});
  }
}

/// Returns whether a motor has a gain that is not estimated.
bool has_fixed_gain(const Mechanism& mechanism) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const bool has_motor = mechanism.joints[static_cast<std::size_t>(j)].motor.present;
    if (has_motor && !mechanism.joint_parameter(j, JointParameter::kMotorGain).free) return true;
  }
  return false;
}

}  // namespace

DescriptionErrorTrials try_description_errors(const Mechanism& mechanism,
                                              const std::vector<Recording>& excerpts,
                                              const CalibrationMonitor& monitor) {
  DescriptionErrorTrials result;
  result.given = fitted(mechanism, excerpts, monitor);
  if (!(result.given.misfit() > kBadMisfit)) return result;
  double best = std::numeric_limits<double>::infinity();
  // Loops are expensive to close, so try fewer errors, the likeliest first.
  const int work = mechanism.joint_count() * (has_closed_loops(mechanism) ? kLoopWork : 1);
  const int most = kTrialsMax / std::max(1, work);
  for (DescriptionHypothesis& hypothesis : list_common_description_errors(mechanism, excerpts)) {
    if (is_stop_requested(monitor) || static_cast<int>(result.trials.size()) >= most) break;
    DescriptionErrorTrial trial{std::move(hypothesis), {}, static_cast<int>(result.trials.size())};
    trial.fit = TrialFit(corrected_mechanism(mechanism, trial.hypothesis),
                         corrected_recordings(excerpts, trial.hypothesis));
    trial.fit.run_coarse_fit(monitor.stop);
    best = std::min(best, trial.fit.misfit());
    result.trials.push_back(std::move(trial));
  }
  std::erase_if(result.trials, [&](const DescriptionErrorTrial& trial) {
    return !(trial.fit.misfit() <= kPromising * best);
  });
  for (DescriptionErrorTrial& trial : result.trials) trial.fit.run_fine_fit(monitor.stop);
  std::ranges::stable_sort(result.trials, {},
                           [](const DescriptionErrorTrial& trial) { return trial.fit.misfit(); });
  return result;
}

DescriptionExamination examine_description(const Mechanism& mechanism,
                                           const std::vector<Recording>& recordings,
                                           const CalibrationMonitor& monitor) {
  const std::vector<Recording> excerpts = select_excerpts(mechanism, recordings, {});
  DescriptionExamination out;
  Mechanism corrected_rig = mechanism;
  std::vector<Recording> corrected = excerpts;
  for (int round = 0; round < kErrorsMax; ++round) {
    DescriptionErrorTrials trials = try_description_errors(corrected_rig, corrected, monitor);
    if (is_stop_requested(monitor)) break;
    const bool explains = !(trials.given.misfit() > kBadMisfit);
    if (explains || trials.trials.empty() ||
        !(explains_better(trials, corrected_rig, corrected, monitor) ||
          explains_one_coordinate(trials, corrected_rig, corrected, monitor))) {
      if (const std::optional<FastJoint>& fast = trials.given.fast_joint()) {
        out.findings.push_back(not_checked(mechanism, *fast));
      }
      const double left = trials.given.unexplained_acceleration_share();
      // With noisy controls, the calibration compares torques and predictions with their noise.
      if (!explains && trials.given.is_valid() && left > kReportedUnexplainedShare &&
          motor_control_noise(mechanism).size() == 0) {
        out.findings.push_back(make_finding(
            {MessageCode::kUnexplainedMotion,
             {{"share", percent(left)}, {"has_fixed_gain", has_fixed_gain(mechanism)}}}));
      }
      if (round == 0) find_far_zeros(mechanism, excerpts, trials.given, monitor, out);
      break;
    }
    const DescriptionErrorTrial& best = trials.trials.front();
    out.findings.push_back(report_finding(trials));
    corrected = corrected_recordings(corrected, best.hypothesis);
    corrected_rig = corrected_mechanism(corrected_rig, best.hypothesis);
    copy_parameter_values(best.fit.mechanism(), corrected_rig);
  }
  return out;
}

}  // namespace estimator
