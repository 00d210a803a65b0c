#include "service/convert/calibration_message.hpp"

#include <limits>

#include "service/convert/calibration_outcome.hpp"
#include "service/convert/result_message.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;

void add_history(const std::vector<estimator::IterationRecord>& history,
                 google::protobuf::RepeatedPtrField<v1::IterationResult>* out_list) {
  for (const estimator::IterationRecord& record : history) {
    v1::IterationResult* out = out_list->Add();
    out->set_iteration(record.iteration);
    out->set_cost(record.cost);
    out->set_gradient_norm(record.gradient_norm);
    out->set_step_norm(record.step_norm);
    out->set_damping(record.damping);
    out->set_rejected(record.rejected);
    for (const double value : record.arrow) out->add_values(value);
  }
}

void add_null_directions(const std::vector<estimator::NullDirection>& directions,
                         google::protobuf::RepeatedPtrField<v1::NullDirectionResult>* out_list) {
  for (const estimator::NullDirection& direction : directions) {
    v1::NullDirectionResult* out = out_list->Add();
    out->set_description(direction.description);
    for (const double value : direction.coefficients) out->add_coefficients(value);
  }
}

void add_noise(const estimator::Calibration& calibration, v1::CalibrationResult& result) {
  Eigen::Index sensor = 0;
  for (Eigen::Index j = 0; j < calibration.acceleration_noise.size(); ++j) {
    const estimator::Hinge& hinge = calibration.mechanism.hinges[static_cast<std::size_t>(j)];
    v1::NoiseResult* out = result.add_noise();
    out->set_hinge(hinge.name);
    const bool slides = hinge.kind == estimator::JointKind::kPrismatic;
    const double reading = hinge.measured ? calibration.angle_noise[sensor++]
                                          : std::numeric_limits<double>::quiet_NaN();
    out->set_reading_rad(slides ? std::numeric_limits<double>::quiet_NaN() : reading);
    if (slides) out->set_reading_m(reading);
    out->set_acceleration(calibration.acceleration_noise[j]);
  }
}

}  // namespace

std::string calibration_json(const estimator::Calibration& calibration,
                             const CalibrationContext& context) {
  v1::CalibrationResult result;
  result.set_rig(context.rig);
  result.set_version(context.version);
  result.set_wall_time_s(context.wall_time);
  add_parameters(calibration.parameters, calibration.mechanism, result.mutable_parameters());
  add_parameters(calibration.tied, calibration.mechanism, result.mutable_tied());
  add_simulation(calibration.simulation, result.mutable_simulation());
  result.set_cost(calibration.cost);
  result.set_iterations(calibration.iterations);
  result.set_termination(std::string(estimator::to_string(calibration.termination)));
  result.set_converged(calibration.converged());
  add_null_directions(calibration.null_directions, result.mutable_null_directions());
  add_null_directions(calibration.initial_null_directions,
                      result.mutable_initial_null_directions());
  add_noise(calibration, result);
  add_matrix(calibration.correlation, result.mutable_correlation());
  add_matrix(calibration.covariance, result.mutable_covariance());
  add_history(calibration.history, result.mutable_history());
  result.set_refined(calibration.refined);
  if (calibration.refined) {
    result.set_refinement_iterations(calibration.refinement_iterations);
    result.set_refinement_termination(
        std::string(estimator::to_string(calibration.refinement_termination)));
    add_history(calibration.refinement_history, result.mutable_refinement_history());
  }
  result.set_observation_rmse_rad(calibration.observation_rmse);
  add_options(calibration, context.options, result.mutable_options());
  for (const RecordingUse& use : context.recordings) add_recording(use, result.add_recordings());
  for (const std::string& note : calibration.notes) result.add_notes(note);
  return to_json(result);
}

}  // namespace service
