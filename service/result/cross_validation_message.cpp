#include "service/result/cross_validation_message.hpp"

#include <algorithm>
#include <cmath>

#include "service/messages/message_text.hpp"
#include "service/recordings/import_notes.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/result/result_message.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;

/// Returns the root mean square of a matrix diagonal, which has the errors on held-out pieces.
double diagonal_rms(const Eigen::MatrixXd& matrix) {
  return std::sqrt(matrix.diagonal().squaredNorm() / static_cast<double>(matrix.rows()));
}

void add_fold(const std::string& held_out, const estimator::Fold& fold, v1::FoldResult* out) {
  const estimator::Evaluation& evaluation = fold.evaluation;
  out->set_held_out(held_out);
  add_parameters(fold.calibration.parameters, fold.calibration.mechanism,
                 out->mutable_parameters());
  out->set_converged(fold.calibration.converged());
  out->set_cost(evaluation.cost);
  out->set_observation_rmse_rad(evaluation.observation_rmse);
  out->set_termination(std::string(estimator::to_string(evaluation.termination)));
  add_simulation(evaluation.simulation, out->mutable_simulation());
  out->set_simulation_termination(
      std::string(estimator::to_string(evaluation.simulation_termination)));
  for (const std::string& note : note_texts(fold.calibration.notes)) out->add_notes(note);
}

}  // namespace

PredictionErrors prediction_errors(const estimator::CrossValidation& validation) {
  PredictionErrors errors;
  errors.observation = diagonal_rms(validation.observation);
  for (std::size_t j = 0; j < validation.joints.size(); ++j) {
    errors.simulation.push_back(
        {validation.joints[j], diagonal_rms(validation.simulation[j]), validation.kinds[j]});
  }
  return errors;
}

bool has_converged(const estimator::CrossValidation& validation) {
  return std::all_of(validation.folds.begin(), validation.folds.end(),
                     [](const estimator::Fold& fold) { return fold.calibration.converged(); });
}

std::string cross_validation_json(const estimator::CrossValidation& validation,
                                  const CalibrationContext& context) {
  v1::CrossValidationResult result;
  for (const std::string& piece : validation.pieces) result.add_parts(piece);
  for (std::size_t i = 0; i < validation.folds.size(); ++i) {
    add_fold(validation.pieces[i], validation.folds[i], result.add_folds());
  }
  const PredictionErrors errors = prediction_errors(validation);
  result.set_observation_rmse_rad(errors.observation);
  add_simulation(errors.simulation, result.mutable_simulation());
  add_matrix(validation.observation, result.mutable_observation_rmse_matrix_rad());
  for (std::size_t j = 0; j < validation.joints.size(); ++j) {
    v1::SimulationMatrix* matrix = result.add_simulation_matrices();
    matrix->set_joint(validation.joints[j]);
    matrix->set_unit(estimator::joint_units(validation.kinds[j]).coordinate);
    add_matrix(validation.simulation[j], matrix->mutable_rmse_rad());
  }
  for (const estimator::ParameterSpread& spread : validation.parameters) {
    v1::ParameterSpreadResult* out = result.add_parameters();
    out->set_name(spread.name);
    out->set_unit(spread.unit);
    out->set_mean(spread.mean);
    out->set_jackknife_standard_deviation(spread.standard_deviation);
    out->set_reported_standard_deviation(spread.reported_standard_deviation);
  }
  result.set_converged(has_converged(validation));
  if (!validation.folds.empty()) {
    *result.mutable_options() =
        chosen_options(validation.folds.front().calibration, context.options);
  }
  for (const RecordingUse& use : context.recordings) {
    for (const std::string& note : describe_import(use.summary)) result.add_notes(note);
  }
  return finished_json(result, context);
}

}  // namespace service
