#include "estimator/calibrate/law_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "estimator/calibrate/held_out_sensors.hpp"
#include "estimator/calibrate/validation.hpp"
#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/joint_friction.hpp"

namespace estimator {
namespace {

constexpr double kLeastShare = 0.01;         // initial friction, of the unexplained torque
constexpr Eigen::Index kStatesLooked = 500;  // per segment
constexpr double kDifferenceTime = 0.02;     // time over which accelerations are differenced [s]

constexpr int kPlaces = FrictionLaws::kQuantityCount;

const FrictionParameter& facts_at(int place) {
  return kFrictionParameters[static_cast<std::size_t>(place)];
}

bool is_zero_without_friction(int place) {
  return facts_at(place).neutral == 0.0;  // decay rates are irrelevant without their term
}

/// Returns the mechanism with a load friction of 1 N·m per newton and no other friction, so that
/// the friction bound of the dynamics equals the bearing load.
Mechanism with_load_alone(Mechanism mechanism) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    for (int place = 0; place < kPlaces; ++place) {
      mechanism.joint_parameter(j, friction_parameter_at(place)).value = 0.0;
    }
    mechanism.joint_parameter(j, JointParameter::kLoadFriction).value = 1.0;
  }
  return mechanism;
}

/// Sums over all states, with one element per joint.
struct Sums {
  Eigen::VectorXd work, squared_torque, squared_speed, load;
  double count = 0.0;
};

void add_segment(const Mechanism& mechanism, const Segment& segment, const Eigen::MatrixXd& states,
                 TreeInverseDynamics<double>& dynamics, Sums& sums) {
  const Eigen::Index n = mechanism.joint_count();
  const Eigen::Index reach =
      std::max<Eigen::Index>(1, std::lround(0.5 * kDifferenceTime / segment.period));
  const Eigen::Index stride = std::max<Eigen::Index>(1, states.cols() / kStatesLooked);
  JointVector<double> control = JointVector<double>::Zero(n), torque(n);
  for (Eigen::Index k = reach; k + reach < states.cols(); k += stride) {
    const JointVector<double> angle = states.col(k).head(n), rate = states.col(k).tail(n);
    const JointVector<double> acceleration =
        (states.col(k + reach).tail(n) - states.col(k - reach).tail(n)) /
        (segment.time(k + reach) - segment.time(k - reach));
    Eigen::Index motor = 0;
    for (Eigen::Index j = 0; j < n; ++j) {
      if (mechanism.joints[static_cast<std::size_t>(j)].motor.present) {
        control[j] = segment.controls(k, motor++);
      }
    }
    dynamics.torque_residual(angle, rate, acceleration, control, torque);
    for (Eigen::Index j = 0; j < n; ++j) {
      sums.work[j] -= torque[j] * rate[j];
      sums.squared_torque[j] += torque[j] * torque[j];
      sums.squared_speed[j] += rate[j] * rate[j];
      sums.load[j] += dynamics.dry_friction_bound(static_cast<int>(j), 0.0);
    }
    sums.count += 1.0;
  }
}

/// Returns whether `term` has all joint parameters of the term `other`.
bool holds(const FrictionLawTerm& term, const FrictionLawTerm& other) {
  const auto all = std::span(term.quantities).first(static_cast<std::size_t>(term.count));
  return std::ranges::all_of(
      std::span(other.quantities).first(static_cast<std::size_t>(other.count)),
      [&](int quantity) { return std::ranges::find(all, quantity) != all.end(); });
}

/// Difference between laws below which they are indistinguishable [standard errors]. Of equally
/// good laws, one in twenty differs by more.
constexpr double kDistinguishableErrors = 2.0;

/// Difference between laws within which the simpler law is preferred [standard errors], by the
/// one-standard-error rule [Breiman, Friedman, Olshen, Stone, Classification and Regression Trees,
/// 1984, sec. 3.4.3], applied to the paired difference.
constexpr double kPreferred = 1.0;

/// Difference between logarithms of errors that is negligible even if its standard error is
/// smaller, as for a law that reduces to another. Equals a model error of a twentieth of the
/// reading noise.
constexpr double kSameError = 1e-3;

MeanWithStandardError mean_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  MeanWithStandardError mean;
  for (const double value : values) mean.value += value / n;
  double squares = 0.0;
  for (const double value : values) squares += std::pow(value - mean.value, 2);
  mean.deviation = std::sqrt(squares / (n * std::max(n - 1.0, 1.0)));
  return mean;
}

std::vector<double> logarithms(const std::vector<double>& errors) {
  std::vector<double> result;
  for (const double error : errors) {
    result.push_back(std::log(std::max(error, std::numeric_limits<double>::min())));
  }
  return result;
}

/// Returns the index of the fold that holds out a part.
int fold_of(std::size_t part, std::size_t parts, int folds) {
  return static_cast<int>(part * static_cast<std::size_t>(folds) / parts);
}

/// The number of folds in which a term's magnitude ended at zero, by term and joint.
using Vanishing = std::vector<std::vector<int>>;

void count_vanished(const Mechanism& mechanism, const FrictionLaw& law,
                    const std::vector<int>& joints, Vanishing& counts) {
  for (std::size_t t = 0; t < law.terms.size(); ++t) {
    for (std::size_t j = 0; j < joints.size(); ++j) {
      const Parameter& size =
          mechanism.joint_parameter(joints[j], friction_term_parameters(*law.terms[t]).front());
      if (size.free && size.value <= size.lower) ++counts[t][j];
    }
  }
}

void store_reduction(const Mechanism& mechanism, const std::vector<int>& joints,
                     const Vanishing& counts, int folds, FrictionLawScore& score) {
  std::string left;
  std::size_t start = 0;
  for (std::size_t t = 0; t < score.law.terms.size(); ++t) {
    const std::size_t end = std::min(score.law.name.find('+', start), score.law.name.size());
    bool gone = true;
    for (std::size_t j = 0; j < joints.size(); ++j) {
      const bool here = 2 * counts[t][j] > folds;
      gone &= here;
      if (!here) continue;
      const JointParameter size = friction_term_parameters(*score.law.terms[t]).front();
      score.at_zero.push_back(mechanism.joint_parameter(joints[j], size).name);
    }
    if (!gone) left.append(left.empty() ? "" : "+").append(score.law.name, start, end - start);
    start = end + 1;
  }
  if (left != score.law.name) score.reduces_to = left.empty() ? "no friction" : left;
}

bool is_simpler(const FrictionLawScore& a, const FrictionLawScore& b) {
  return std::pair(a.parameters, a.order) < std::pair(b.parameters, b.order);
}

/// Stores the estimates of a law's friction parameters.
void take_estimates(const Calibration& calibration, const std::vector<int>& joints,
                    FrictionLawScore& score) {
  for (const int joint : joints) {
    for (const FrictionLawTerm* term : score.law.terms) {
      for (const JointParameter quantity : friction_term_parameters(*term)) {
        const std::string& name = calibration.mechanism.joint_parameter(joint, quantity).name;
        const auto found =
            std::ranges::find(calibration.parameters, name, &ParameterEstimate::name);
        if (found != calibration.parameters.end()) score.estimates.push_back(*found);
      }
    }
  }
}

/// Fits and evaluates one friction law over all folds, and stores its errors in `score`.
/// @param mechanism  with this law
/// @return false if stopped by the monitor
bool run_law(const Mechanism& mechanism, const std::vector<Recording>& parts,
             const std::vector<int>& joints, int folds, const CalibrationOptions& options,
             const CalibrationMonitor& monitor,
             const std::function<void(const FrictionLaw&, int)>& on_fold, FrictionLawScore& score) {
  const std::vector<JointKind> kinds = encoder_joint_kinds(mechanism);
  score.errors.assign(parts.size(), std::numeric_limits<double>::quiet_NaN());
  Vanishing vanished(score.law.terms.size(), std::vector<int>(joints.size(), 0));
  double squares = 0.0;
  for (int fold = 0; fold < folds; ++fold) {
    if (on_fold) on_fold(score.law, fold);
    std::vector<Recording> others;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (fold_of(i, parts.size(), folds) != fold) others.push_back(parts[i]);
    }
    const Calibration calibration = calibrate(mechanism, others, options, monitor);
    if (is_stop_requested(monitor)) return false;
    score.converged &= calibration.converged();
    count_vanished(calibration.mechanism, score.law, joints, vanished);
    squares += std::pow(compute_pooled_rmse(calibration.trajectories, kinds), 2);
    if (fold == 0) take_estimates(calibration, joints, score);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (fold_of(i, parts.size(), folds) != fold) continue;
      const ParameterEvaluation evaluation =
          evaluate_calibration(mechanism, calibration, {parts[i]}, options, monitor);
      score.errors[i] = compute_pooled_rmse(evaluation.trajectories, kinds);
      if (std::isfinite(score.errors[i])) continue;
      throw std::invalid_argument("its simulation of " + parts[i].name + " diverges");
    }
    if (is_stop_requested(monitor)) return false;
  }
  score.fit_error = std::sqrt(squares / folds);
  store_reduction(mechanism, joints, vanished, folds, score);
  return true;
}

}  // namespace

int FrictionLaw::parameter_count() const {
  int count = 0;
  for (const FrictionLawTerm* term : terms) count += term->count;
  return count;
}

std::string list_friction_terms() {
  std::string words;
  for (const FrictionLawTerm& term : kFrictionTerms) {
    words.append(words.empty() ? "" : ", ").append(term.word);
  }
  return words;
}

std::vector<JointParameter> friction_term_parameters(const FrictionLawTerm& term) {
  std::vector<JointParameter> quantities;
  for (int k = 0; k < term.count; ++k) {
    quantities.push_back(friction_parameter_at(term.quantities[static_cast<std::size_t>(k)]));
  }
  return quantities;
}

FrictionLaw parse_friction_law(std::string_view name) {
  const auto fail = [&](std::string_view what) {
    throw std::invalid_argument(
        quoted(std::string(name)) + ": " + std::string(what) +
        "; a friction law is a term, or a sum of terms such as viscous+dry. The terms are " +
        list_friction_terms());
  };
  FrictionLaw law{std::string(name), {}};
  std::size_t begin = 0;
  while (begin <= name.size()) {
    const std::size_t end = std::min(name.find('+', begin), name.size());
    const std::string_view word = name.substr(begin, end - begin);
    const auto* const found = std::ranges::find(kFrictionTerms, word, &FrictionLawTerm::word);
    if (found == kFrictionTerms.end()) {
      fail(std::string("unknown friction term \"").append(word).append("\""));
    }
    for (const FrictionLawTerm* other : law.terms) {
      if (other == found) fail(std::string(word).append(" occurs twice"));
      for (const auto& [more, less] : {std::pair{found, other}, std::pair{other, found}}) {
        if (!holds(*more, *less)) continue;
        fail(std::string(more->word).append(" already includes ").append(less->word));
      }
    }
    law.terms.push_back(found);
    begin = end + 1;
  }
  return law;
}

std::vector<FrictionLaw> default_friction_laws() {
  std::vector<FrictionLaw> laws;
  for (const char* name : {"viscous", "dry", "load", "viscous+dry", "viscous+drag", "viscous+load",
                           "viscous+dry+drag", "viscous+smooth", "viscous+stribeck"}) {
    laws.push_back(parse_friction_law(name));
  }
  return laws;
}

std::vector<FrictionScale> estimate_friction_scales(const Mechanism& mechanism,
                                                    const std::vector<Recording>& recordings,
                                                    const CalibrationOptions& options) {
  const ShootingInput input =
      prepare_shooting_input(mechanism, split_held_out_sensors(mechanism, recordings), options);
  const Mechanism bare = with_load_alone(mechanism);
  TreeInverseDynamics<double> dynamics(bare, parameter_values(bare));
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(mechanism.joint_count());
  Sums sums{zero, zero, zero, zero};
  for (std::size_t s = 0; s < input.segments.size(); ++s) {
    add_segment(mechanism, input.segments[s], input.states[s], dynamics, sums);
  }
  std::vector<FrictionScale> scales;
  constexpr double kTiny = std::numeric_limits<double>::min();
  for (Eigen::Index j = 0; j < zero.size(); ++j) {
    const double count = std::max(sums.count, 1.0);
    FrictionScale scale;
    scale.speed = std::sqrt(sums.squared_speed[j] / count);
    const double unexplained = std::sqrt(sums.squared_torque[j] / count);
    scale.torque =
        std::max(sums.work[j] / count / std::max(scale.speed, kTiny), kLeastShare * unexplained);
    scale.fastest = input.max_speed[j];
    scale.load = sums.load[j] / count;
    scales.push_back(scale);
  }
  return scales;
}

std::vector<int> find_joints_with_friction(const Mechanism& mechanism) {
  std::vector<int> joints, all;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    all.push_back(j);
    bool any = false;
    for (int place = 0; place < kPlaces; ++place) {
      const int index = mechanism.joint_parameter_index(j, friction_parameter_at(place));
      any |= is_zero_without_friction(place) &&
             (is_changed_by_fit(mechanism, index) || mechanism.at(index).value != 0.0);
    }
    if (any) joints.push_back(j);
  }
  return joints.empty() ? all : joints;
}

Mechanism replace_friction_law(Mechanism mechanism, const FrictionLaw& law,
                               const std::vector<int>& joints,
                               const std::vector<FrictionScale>& scales) {
  const auto terms = static_cast<double>(law.terms.size());
  for (const int j : joints) {
    const FrictionScale& scale = scales[static_cast<std::size_t>(j)];
    for (int place = 0; place < kPlaces; ++place) {
      const JointParameter quantity = friction_parameter_at(place);
      Parameter& parameter = mechanism.joint_parameter(j, quantity);
      if (find_dependency(mechanism, mechanism.joint_parameter_index(j, quantity)) != nullptr) {
        throw std::invalid_argument(
            "a comparison of friction laws cannot keep the dependency of a friction parameter; "
            "remove the dependency, or compare laws at other joints. Parameter: " +
            parameter.name);
      }
      parameter.free = false;
      if (is_zero_without_friction(place)) parameter.value = 0.0;
      parameter.lower = 0.0;
      parameter.upper = std::numeric_limits<double>::infinity();
      parameter.prior_standard_deviation = std::numeric_limits<double>::infinity();
    }
    for (const FrictionLawTerm* term : law.terms) {
      for (const JointParameter quantity : friction_term_parameters(*term)) {
        const FrictionParameter& facts = *friction_properties(quantity);
        Parameter& parameter = mechanism.joint_parameter(j, quantity);
        const double start = facts.start(scale.torque / terms, scale);
        parameter.value = std::isfinite(start) ? start : 0.0;
        parameter.free = true;
        if (facts.may_be_negative) parameter.lower = -std::numeric_limits<double>::infinity();
        if (facts.most != nullptr) parameter.upper = facts.most(scale);
      }
    }
  }
  return mechanism;
}

void rank_friction_laws(FrictionLawComparison& comparison) {
  for (FrictionLawScore& score : comparison.laws) {
    if (score.has_result()) score.log_error = mean_of(logarithms(score.errors));
  }
  std::ranges::stable_sort(comparison.laws,
                           [](const FrictionLawScore& a, const FrictionLawScore& b) {
                             if (a.has_result() != b.has_result()) return a.has_result();
                             return a.has_result() && a.log_error.value < b.log_error.value;
                           });
  comparison.recommended = -1;
  comparison.indistinguishable.clear();
  if (comparison.laws.empty() || !comparison.laws.front().has_result()) return;
  const std::vector<double> best = logarithms(comparison.laws.front().errors);
  for (std::size_t i = 0; i < comparison.laws.size(); ++i) {
    FrictionLawScore& score = comparison.laws[i];
    if (!score.has_result()) break;
    std::vector<double> ratios = logarithms(score.errors);
    for (std::size_t k = 0; k < ratios.size(); ++k) ratios[k] -= best[k];
    score.log_ratio = mean_of(ratios);
    const auto is_within = [&](double errors) {
      return score.log_ratio.value <= std::max(errors * score.log_ratio.deviation, kSameError);
    };
    const int index = static_cast<int>(i);
    if (is_within(kDistinguishableErrors)) comparison.indistinguishable.push_back(index);
    if (!is_within(kPreferred)) continue;
    if (comparison.recommended < 0 ||
        is_simpler(score, comparison.laws[static_cast<std::size_t>(comparison.recommended)])) {
      comparison.recommended = index;
    }
  }
}

FrictionLawComparison compare_friction_laws(
    const Mechanism& mechanism, const std::vector<Recording>& given,
    const FrictionLawComparisonOptions& choice, const CalibrationOptions& options,
    const CalibrationMonitor& monitor,
    const std::function<void(const FrictionLaw&, int)>& on_fold) {
  if (given.size() < 2)
    throw std::invalid_argument(
        "a comparison of friction laws needs at least two recordings, or parts of a recording");
  const std::vector<Recording> parts = split_held_out_sensors(mechanism, given);
  const std::vector<int> joints =
      choice.joints.empty() ? find_joints_with_friction(mechanism) : choice.joints;
  const std::vector<FrictionScale> scales = estimate_friction_scales(mechanism, parts, options);
  FrictionLawComparison result;
  result.kinds = encoder_joint_kinds(mechanism);
  result.folds = std::min(choice.folds, static_cast<int>(parts.size()));
  for (const Recording& part : parts) result.parts.push_back(part.name);
  for (const int j : joints) {
    result.joints.push_back(mechanism.joints[static_cast<std::size_t>(j)].name);
  }
  for (const FrictionLaw& law : choice.laws) {
    FrictionLawScore score;
    score.law = law;
    score.order = static_cast<int>(result.laws.size());
    score.parameters = law.parameter_count() * static_cast<int>(joints.size());
    try {
      const Mechanism candidate = replace_friction_law(mechanism, law, joints, scales);
      if (!run_law(candidate, parts, joints, result.folds, options, monitor, on_fold, score)) {
        result.stopped = true;
        return result;
      }
    } catch (const std::invalid_argument& fault) {
      score.failure = fault.what();
    }
    result.laws.push_back(std::move(score));
  }
  if (std::ranges::none_of(result.laws, &FrictionLawScore::has_result)) {
    throw std::invalid_argument(result.laws.empty() ? "there is no law to compare"
                                                    : result.laws.front().failure);
  }
  rank_friction_laws(result);
  return result;
}

}  // namespace estimator
