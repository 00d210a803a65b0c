#include "estimator/calibrate/law_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "estimator/assessment/prediction_error.hpp"
#include "estimator/calibrate/calibrate.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "estimator/calibrate/held_out_sensors.hpp"
#include "estimator/model/encoder.hpp"

namespace estimator {
namespace {

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

PartMean mean_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  PartMean mean;
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
int fold_of(std::size_t piece, std::size_t pieces, int folds) {
  return static_cast<int>(piece * static_cast<std::size_t>(folds) / pieces);
}

/// Returns whether a friction term has vanished, that is, whether its magnitude is at its bound.
bool is_gone(const Mechanism& mechanism, int joint, JointQuantity quantity) {
  const Parameter& parameter = mechanism.joint_parameter(joint, quantity);
  return parameter.free && parameter.value <= parameter.lower;
}

/// The number of folds in which a term's magnitude ended at zero, by term and joint.
using Vanishing = std::vector<std::vector<int>>;

void count_vanished(const Mechanism& mechanism, const FrictionLaw& law,
                    const std::vector<int>& joints, Vanishing& counts) {
  for (std::size_t t = 0; t < law.terms.size(); ++t) {
    for (std::size_t j = 0; j < joints.size(); ++j) {
      if (is_gone(mechanism, joints[j], quantities_of(*law.terms[t]).front())) ++counts[t][j];
    }
  }
}

void store_reduction(const Mechanism& mechanism, const std::vector<int>& joints,
                     const Vanishing& counts, int folds, LawScore& score) {
  std::string left;
  std::size_t start = 0;
  for (std::size_t t = 0; t < score.law.terms.size(); ++t) {
    const std::size_t end = std::min(score.law.name.find('+', start), score.law.name.size());
    bool gone = true;
    for (std::size_t j = 0; j < joints.size(); ++j) {
      const bool here = 2 * counts[t][j] > folds;
      gone &= here;
      if (!here) continue;
      const JointQuantity size = quantities_of(*score.law.terms[t]).front();
      score.at_zero.push_back(mechanism.joint_parameter(joints[j], size).name);
    }
    if (!gone) left.append(left.empty() ? "" : "+").append(score.law.name, start, end - start);
    start = end + 1;
  }
  if (left != score.law.name) score.reduces_to = left.empty() ? "no friction" : left;
}

bool is_simpler(const LawScore& a, const LawScore& b) {
  return std::pair(a.parameters, a.order) < std::pair(b.parameters, b.order);
}

/// Cross-validates one friction law over all folds.
class LawRun {
 public:
  LawRun(const Mechanism& mechanism, const std::vector<Recording>& pieces,
         const CalibrationOptions& options, const CalibrationMonitor& monitor)
      : mechanism_(mechanism), pieces_(pieces), options_(options), monitor_(monitor) {}

  /// Fits and evaluates the law over all folds, and stores its errors in `score`.
  /// @return false if stopped by the monitor
  bool run(const std::vector<int>& joints, int folds,
           const std::function<void(const FrictionLaw&, int)>& on_fold, LawScore& score) const {
    score.errors.assign(pieces_.size(), std::numeric_limits<double>::quiet_NaN());
    Vanishing vanished(score.law.terms.size(), std::vector<int>(joints.size(), 0));
    double squares = 0.0;
    for (int fold = 0; fold < folds; ++fold) {
      if (on_fold) on_fold(score.law, fold);
      const Calibration calibration = fit_without(fold, folds);
      if (is_stopped(monitor_)) return false;
      score.converged &= calibration.converged();
      count_vanished(calibration.mechanism, score.law, joints, vanished);
      squares += std::pow(pooled_rmse(calibration.trajectories, encoder_kinds(mechanism_)), 2);
      if (fold == 0) take_estimates(calibration, joints, score);
      predict(fold, folds, calibration, score);
      if (is_stopped(monitor_)) return false;
    }
    score.fit_error = std::sqrt(squares / folds);
    store_reduction(mechanism_, joints, vanished, folds, score);
    return true;
  }

 private:
  Calibration fit_without(int fold, int folds) const {
    std::vector<Recording> others;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (fold_of(i, pieces_.size(), folds) != fold) others.push_back(pieces_[i]);
    }
    return calibrate(mechanism_, others, options_, monitor_);
  }

  void predict(int fold, int folds, const Calibration& calibration, LawScore& score) const {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (fold_of(i, pieces_.size(), folds) != fold) continue;
      const Evaluation evaluation =
          evaluate_estimate(mechanism_, calibration, {pieces_[i]}, options_, monitor_);
      score.errors[i] = pooled_rmse(evaluation.trajectories, encoder_kinds(mechanism_));
      if (std::isfinite(score.errors[i])) continue;
      throw std::invalid_argument("its simulation of " + pieces_[i].name + " diverges");
    }
  }

  static void take_estimates(const Calibration& calibration, const std::vector<int>& joints,
                             LawScore& score) {
    for (const int joint : joints) {
      for (const LawTerm* term : score.law.terms) {
        for (const JointQuantity quantity : quantities_of(*term)) {
          const std::string& name = calibration.mechanism.joint_parameter(joint, quantity).name;
          const auto found =
              std::ranges::find(calibration.parameters, name, &ParameterEstimate::name);
          if (found != calibration.parameters.end()) score.estimates.push_back(*found);
        }
      }
    }
  }

  const Mechanism& mechanism_;
  const std::vector<Recording>& pieces_;
  const CalibrationOptions& options_;
  const CalibrationMonitor& monitor_;
};

}  // namespace

void rank_laws(LawComparison& comparison) {
  for (LawScore& score : comparison.laws) {
    if (score.has_result()) score.log_error = mean_of(logarithms(score.errors));
  }
  std::ranges::stable_sort(comparison.laws, [](const LawScore& a, const LawScore& b) {
    if (a.has_result() != b.has_result()) return a.has_result();
    return a.has_result() && a.log_error.value < b.log_error.value;
  });
  comparison.recommended = -1;
  comparison.indistinguishable.clear();
  if (comparison.laws.empty() || !comparison.laws.front().has_result()) return;
  const std::vector<double> best = logarithms(comparison.laws.front().errors);
  for (std::size_t i = 0; i < comparison.laws.size(); ++i) {
    LawScore& score = comparison.laws[i];
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

LawComparison compare_laws(const Mechanism& mechanism, const std::vector<Recording>& given,
                           const LawChoice& choice, const CalibrationOptions& options,
                           const CalibrationMonitor& monitor,
                           const std::function<void(const FrictionLaw&, int)>& on_fold) {
  if (given.size() < 2)
    throw std::invalid_argument("a comparison needs at least two recordings or pieces");
  const std::vector<Recording> pieces = split_held_out_sensors(mechanism, given);
  const std::vector<int> joints =
      choice.joints.empty() ? joints_with_friction(mechanism) : choice.joints;
  const std::vector<FrictionScale> scales = friction_scales(mechanism, pieces, options);
  LawComparison result;
  result.kinds = encoder_kinds(mechanism);
  result.folds = std::min(choice.folds, static_cast<int>(pieces.size()));
  for (const Recording& piece : pieces) result.pieces.push_back(piece.name);
  for (const int j : joints) {
    result.joints.push_back(mechanism.joints[static_cast<std::size_t>(j)].name);
  }
  for (const FrictionLaw& law : choice.laws) {
    LawScore score;
    score.law = law;
    score.order = static_cast<int>(result.laws.size());
    score.parameters = law.parameter_count() * static_cast<int>(joints.size());
    try {
      const Mechanism candidate = with_law(mechanism, law, joints, scales);
      if (!LawRun(candidate, pieces, options, monitor).run(joints, result.folds, on_fold, score)) {
        result.stopped = true;
        return result;
      }
    } catch (const std::invalid_argument& fault) {
      score.failure = fault.what();
    }
    result.laws.push_back(std::move(score));
  }
  if (std::ranges::none_of(result.laws, &LawScore::has_result)) {
    throw std::invalid_argument(result.laws.empty() ? "there is no law to compare"
                                                    : result.laws.front().failure);
  }
  rank_laws(result);
  return result;
}

}  // namespace estimator
