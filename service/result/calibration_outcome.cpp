#include "service/result/calibration_outcome.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "estimator/assessment/model_test/verdict.hpp"
#include "estimator/assessment/part_consistency.hpp"

namespace service {
namespace {

using estimator::ParameterEstimate;
using estimator::Termination;

constexpr double kWide = 2.05;  // standard deviations: "± 2", rounded
constexpr std::size_t kExactValuesNamed = 4;

/// Returns the change of an estimate by an error of a fixed value, such as "1.b_x changes A.J_zz by
/// 1.2 %", or with its tolerance "1.b_x ± 0.5 % changes A.J_zz by 0.6 %".
std::string describe_change(const estimator::FixedValueEffect& effect,
                            const std::vector<ParameterEstimate>& estimates) {
  const auto moved = std::ranges::find(estimates, effect.moved, &ParameterEstimate::name);
  const std::string tolerance =
      effect.tolerance > 0.0 ? " ± " + format_number(100.0 * effect.tolerance, 3) + " %" : "";
  const std::string changes = effect.name + tolerance + " changes " + effect.moved;
  if (moved == estimates.end()) return changes;
  const double change = std::abs(effect.change), value = std::abs(moved->value);
  return changes + " by " +
         (change < value ? format_number(100.0 * change / value, 2) + " %"
                         : format_number(change, 2) + " " + moved->unit);
}

/// Returns a list of the largest effects.
std::string list_effects(const std::vector<estimator::FixedValueEffect>& effects,
                         const std::vector<ParameterEstimate>& estimates) {
  const std::size_t shown = std::min(effects.size(), kExactValuesNamed);
  const std::string list =
      join_items(std::vector(effects.begin(), effects.begin() + static_cast<int>(shown)),
                 [&](const estimator::FixedValueEffect& effect) {
                   return describe_change(effect, estimates);
                 });
  if (shown == effects.size()) return list;
  return fmt::format("{}, and {} more have smaller effects", list, effects.size() - shown);
}

}  // namespace

bool was_stopped_by_user(const estimator::Calibration& calibration) {
  return calibration.termination == Termination::kCancelled ||
         (calibration.refined && calibration.refinement_termination == Termination::kCancelled);
}

std::string describe_stage_ending(estimator::Termination termination, int iterations) {
  return std::string(estimator::to_string(termination)) + " after " + std::to_string(iterations) +
         (iterations == 1 ? " iteration" : " iterations");
}

std::string describe_calibration_ending(const estimator::Calibration& calibration) {
  if (calibration.converged()) {
    // The estimates come from the simulation fit; the joint estimation gave its initial values.
    return estimator::is_converged(calibration.termination)
               ? "Converged"
               : std::string(
                     "Converged (the simulation fit; the joint estimation before it ended by ") +
                     std::string(estimator::to_string(calibration.termination)) + ")";
  }
  return calibration.verdict.kind == estimator::VerdictKind::kNoFit
             ? "NO RESULT (the model does not fit the data)"
             : "NOT CONVERGED";
}

std::string explain_wide_intervals(const estimator::Calibration& calibration) {
  if (!(calibration.agreement.p_value < estimator::kConsistencyLevel)) return "";
  const ParameterEstimate* widest = nullptr;
  double most = kWide;
  for (const ParameterEstimate& estimate : calibration.parameters) {
    if (estimate.at_bound || !std::isfinite(estimate.half_interval)) continue;
    const double ratio = estimate.half_interval / estimate.standard_deviation;
    if (!(ratio > most)) continue;
    most = ratio;
    widest = &estimate;
  }
  if (widest == nullptr) return "";
  return fmt::format(
      "The parts of the recordings disagree, so 95 % intervals use Student's t factor and are up "
      "to ± {} standard "
      "deviations wide ({}) instead of ± 2. "
      "If few parts identify a parameter, the factor is larger (12.7 for two parts).",
      format_number(most, 2), widest->name);
}

std::string explain_exact_values(const estimator::Calibration& calibration) {
  const bool has_intervals = std::ranges::any_of(
      calibration.parameters, [](const ParameterEstimate& each) {
        return !each.at_bound && each.half_interval > 0.0 && std::isfinite(each.half_interval);
      });
  if (!has_intervals) return "";
  std::vector<estimator::FixedValueEffect> exact = calibration.fixed_value_effects;
  const auto uncertain = std::ranges::stable_partition(
      exact, [](const estimator::FixedValueEffect& effect) { return effect.tolerance == 0.0; });
  const std::vector included(uncertain.begin(), uncertain.end());
  exact.erase(uncertain.begin(), uncertain.end());
  std::string text;
  if (!included.empty()) {
    text = fmt::format("The 95 % intervals include the tolerances of fixed values: {}. ",
                       list_effects(included, calibration.parameters));
  }
  if (!exact.empty()) {
    text += fmt::format(
        "The 95 % intervals assume that {} are exact. If such a value is wrong by 1 %, estimates "
        "change: {}. To include the uncertainty of a value, give its `tolerance_percent`, free it "
        "with `prior_standard_deviation`, or a body with `cad_uncertainty_percent`. ",
        included.empty() ? "fixed values" : "other fixed values",
        list_effects(exact, calibration.parameters));
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::vector<estimator::Message> describe_unexplained_joints(
    const estimator::Calibration& calibration) {
  std::vector<estimator::Message> warnings;
  for (const estimator::SensorFitQuality& fit : estimator::assess_sensor_fits(calibration)) {
    if (!estimator::is_motion_unexplained(fit)) continue;
    warnings.push_back({estimator::MessageCode::kUnreproducedMotion,
                        {{"joint", fit.name},
                         {"share", std::vector<estimator::Message>{
                                       estimator::describe_unexplained_share(fit.unexplained)}}}});
  }
  return warnings;
}

}  // namespace service
