#include "service/result/calibration_outcome.hpp"

#include "estimator/calibrate/verdict.hpp"

namespace service {
namespace {

using estimator::Termination;

}  // namespace

bool was_stopped(const estimator::Calibration& calibration) {
  return calibration.termination == Termination::kCancelled ||
         (calibration.refined && calibration.refinement_termination == Termination::kCancelled);
}

std::string describe_stage(estimator::Termination termination, int iterations) {
  return std::string(estimator::to_string(termination)) + " after " + std::to_string(iterations) +
         (iterations == 1 ? " iteration" : " iterations");
}

std::string describe_ending(const estimator::Calibration& calibration) {
  if (calibration.converged()) {
    // The estimates are the simulation fit's; the joint one only led there.
    return estimator::is_converged(calibration.termination)
               ? "Converged"
               : std::string(
                     "Converged (the simulation fit; the joint estimation before it ended by ") +
                     std::string(estimator::to_string(calibration.termination)) + ")";
  }
  return calibration.verdict.kind == estimator::VerdictKind::kExplainsNothing
             ? "NO RESULT (the model explains nothing)"
             : "NOT CONVERGED";
}

std::vector<std::string> describe_misfit(const estimator::Calibration& calibration) {
  std::vector<std::string> warnings;
  for (const estimator::SensorFit& fit : estimator::sensor_fits(calibration)) {
    if (!estimator::is_unexplained(fit)) continue;
    warnings.push_back("warning: hinge " + fit.name +
                       ": the simulation does not follow the recording (it leaves " +
                       estimator::share_text(fit.unexplained) +
                       "); check the column's unit, sign and zero, and the rig's "
                       "geometry, before believing any estimate");
  }
  return warnings;
}

}  // namespace service
