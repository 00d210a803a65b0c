#include "service/result/calibration_outcome.hpp"

#include <cmath>

#include "estimator/assessment/model_test/verdict.hpp"
#include "estimator/assessment/part_consistency.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::ParameterEstimate;
using estimator::Termination;

constexpr double kWide = 2.05;  // standard deviations: "± 2", rounded

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
