#include "service/convert/calibration_message.hpp"

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

}  // namespace

std::string calibration_json(const estimator::Calibration& calibration,
                             const CalibrationContext& context) {
  v1::CalibrationResult result;
  result.set_rig(context.rig);
  result.set_version(context.version);
  result.set_wall_time_s(context.wall_time);
  add_parameters(calibration, result.mutable_parameters());
  add_simulation(calibration.simulation, result.mutable_simulation());
  result.set_cost(calibration.cost);
  result.set_iterations(calibration.iterations);
  result.set_termination(std::string(estimator::to_string(calibration.termination)));
  result.set_converged(has_converged(calibration));
  for (const estimator::NullDirection& direction : calibration.null_directions) {
    v1::NullDirectionResult* out = result.add_null_directions();
    out->set_description(direction.description);
    for (const double value : direction.coefficients) out->add_coefficients(value);
  }
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
