#include "service/convert/calibration_outcome.hpp"

#include <cmath>

namespace service {
namespace {

using estimator::Termination;

// A rig with the right units, signs and geometry stays below a few hundredths.
constexpr double kMisfitShare = 1.0 / 3.0;

constexpr double kRest = 1e-9;  // [rad]; a hinge that never moves is told at the import

/// Standard deviation of one measured angle over all segments, about each segment's mean.
double motion_of(const std::vector<estimator::SegmentTrajectory>& trajectories,
                 Eigen::Index sensor) {
  double squares = 0.0;
  double count = 0.0;
  for (const estimator::SegmentTrajectory& trajectory : trajectories) {
    double sum = 0.0;
    double observed = 0.0;
    for (const double angle : trajectory.measured.col(sensor)) {
      if (std::isnan(angle)) continue;
      sum += angle;
      observed += 1.0;
    }
    for (const double angle : trajectory.measured.col(sensor)) {
      if (!std::isnan(angle)) squares += std::pow(angle - sum / observed, 2);
    }
    count += observed;
  }
  return std::sqrt(squares / count);
}

/// Whether model and recording agree although no simulation from the start can tell: states and
/// parameters explain every acceleration. Motions through the upright are like that.
bool is_explained(const estimator::Calibration& calibration) {
  return calibration.kind == estimator::EstimateKind::kPhysical && !calibration.refined &&
         estimator::is_converged(calibration.termination) &&
         calibration.acceleration_noise.isZero(0.0);
}

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
  if (is_explained(calibration)) return warnings;
  for (std::size_t i = 0; i < calibration.simulation.size(); ++i) {
    const estimator::SimulationError& error = calibration.simulation[i];
    const double motion = motion_of(calibration.trajectories, static_cast<Eigen::Index>(i));
    if (error.rmse <= kMisfitShare * motion || !(motion > kRest)) continue;
    const double percent = 100.0 * error.rmse / motion;
    const std::string share = percent < 1000.0
                                  ? std::to_string(std::lround(percent)) + " % of the motion"
                                  : "many times the motion";
    warnings.push_back("warning: hinge " + error.hinge +
                       ": the simulation does not follow the recording (its error is " + share +
                       "); check the column's unit, sign and zero, and the rig's "
                       "geometry, before believing any estimate");
  }
  return warnings;
}

}  // namespace service
