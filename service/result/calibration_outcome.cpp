#include "service/result/calibration_outcome.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/assessment/model_test/verdict.hpp"
#include "estimator/assessment/part_consistency.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/model/parameter_dependencies.hpp"

namespace service {
namespace {

using estimator::ParameterEstimate;
using estimator::Termination;

constexpr double kWide = 2.05;  // standard deviations: "± 2", rounded
constexpr std::size_t kExactValuesNamed = 4;

/// Returns the indices of the masses, gravity, joint points and motor constants of a mechanism.
std::vector<int> list_measured_constants(const estimator::Mechanism& mechanism) {
  using estimator::JointParameter;
  std::vector<int> indices;
  for (int body = 0; body < mechanism.body_count(); ++body) {
    indices.push_back(mechanism.index(body, estimator::BodyParameter::kMass));
  }
  indices.push_back(mechanism.index(estimator::GravityParameter::kGravity));
  for (int joint = 0; joint < mechanism.joint_count(); ++joint) {
    for (int k = static_cast<int>(JointParameter::kPointAx);
         k <= static_cast<int>(JointParameter::kPointBz); ++k) {
      indices.push_back(mechanism.joint_parameter_index(joint, static_cast<JointParameter>(k)));
    }
  }
  for (int joint = 0; joint < mechanism.joint_count(); ++joint) {
    for (const auto quantity :
         {JointParameter::kMotorGain, JointParameter::kBackEmf, JointParameter::kShaftInertia}) {
      indices.push_back(mechanism.joint_parameter_index(joint, quantity));
    }
  }
  return indices;
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
  return "The pieces disagree, so 95 % intervals use Student's t factor and are up to ± " +
         format_number(most, 2) + " standard deviations wide (" + widest->name +
         ") instead of ± 2. The factor grows when few pieces identify a parameter (12.7 for two).";
}

std::string explain_exact_values(const estimator::Calibration& calibration) {
  const estimator::Mechanism& mechanism = calibration.mechanism;
  const bool has_intervals = std::ranges::any_of(
      calibration.parameters, [](const ParameterEstimate& each) {
        return !each.at_bound && each.half_interval > 0.0 && std::isfinite(each.half_interval);
      });
  if (calibration.kind != estimator::EstimateKind::kPhysical || !has_intervals ||
      mechanism.parameters.empty()) {
    return "";
  }
  std::vector<int> exact = list_measured_constants(mechanism);
  std::erase_if(exact, [&](int index) {
    return mechanism.at(index).value == 0.0 || !estimator::is_fixed_parameter(mechanism, index);
  });
  if (exact.empty()) return "";
  const std::size_t named = std::min(exact.size(), kExactValuesNamed);
  const std::string names = join_items(
      std::vector<int>(exact.begin(), exact.begin() + static_cast<int>(named)), [&](int index) {
        const estimator::Parameter& value = mechanism.at(index);
        return value.name + " = " + format_number(value.value) + " " + value.unit;
      });
  return "The 95 % intervals assume that fixed values are exact: " + names +
         (named < exact.size() ? " and " + std::to_string(exact.size() - named) + " more" : "") +
         ". To include the uncertainty of a value, free it with `prior_standard_deviation`, "
         "or a body with `cad_uncertainty_percent`.";
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
