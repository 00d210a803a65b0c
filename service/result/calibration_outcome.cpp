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
