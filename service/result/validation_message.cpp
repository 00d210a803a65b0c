#include "service/result/validation_message.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/calibrate/calibrate.hpp"
#include "proto/validation.pb.h"
#include "service/messages/message_text.hpp"
#include "service/options/option_texts.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/result/result_message.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using estimator::FrictionLawComparison;
using estimator::FrictionLawScore;
using estimator::ValidationWindow;

double median_error(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

RecordingPredictionErrors errors_of(const std::string& recording,
                                    const std::vector<const ValidationWindow*>& windows) {
  RecordingPredictionErrors result{recording, static_cast<int>(windows.size()), {}};
  for (std::size_t i = 0; i < windows.front()->errors.size(); ++i) {
    SensorPredictionErrors errors;
    std::vector<double> each;
    for (const ValidationWindow* window : windows) {
      errors.all.add(window->errors[i]);
      // Skip windows without readings of the sensor.
      if (window->errors[i].readings > 0) each.push_back(window->errors[i].rmse());
    }
    if (each.empty()) each.push_back(std::nan(""));
    errors.median_window = median_error(each);
    errors.worst_window = *std::ranges::max_element(each);
    result.sensors.push_back(errors);
  }
  return result;
}

void add_errors(const RecordingPredictionErrors& errors, const estimator::Validation& validation,
                v1::RecordingErrorResult* out) {
  out->set_recording(errors.recording);
  out->set_windows(errors.windows);
  for (std::size_t i = 0; i < errors.sensors.size(); ++i) {
    v1::SensorErrorResult* sensor = out->add_sensors();
    sensor->set_sensor(validation.sensors[i]);
    sensor->set_unit(estimator::joint_units(validation.kinds[i]).coordinate);
    sensor->set_readings(static_cast<std::int64_t>(errors.sensors[i].all.readings));
    sensor->set_rmse(errors.sensors[i].all.rmse());
    sensor->set_median_window(errors.sensors[i].median_window);
    sensor->set_worst_window(errors.sensors[i].worst_window);
    sensor->set_largest(errors.sensors[i].all.largest);
    sensor->set_noise(validation.noise[i]);
  }
}

void add_window(const ValidationWindow& window, v1::WindowResult* out) {
  out->set_recording(window.recording);
  out->set_from_s(window.start);
  out->set_to_s(window.end);
  for (const estimator::PredictionError& error : window.errors) {
    out->add_rmse(error.rmse());
    out->add_largest(error.largest);
  }
  out->set_fitted(window.fitted);
}

/// Returns the root mean square of a matrix diagonal, which has the errors on held-out parts.
double diagonal_rms(const Eigen::MatrixXd& matrix) {
  return std::sqrt(matrix.diagonal().squaredNorm() / static_cast<double>(matrix.rows()));
}

void add_fold(const std::string& held_out, const estimator::CrossValidationFold& fold,
              v1::FoldResult* out) {
  const estimator::ParameterEvaluation& evaluation = fold.evaluation;
  out->set_held_out(held_out);
  add_parameter_results(fold.calibration.parameters, fold.calibration.mechanism,
                        out->mutable_parameters());
  out->set_converged(fold.calibration.converged());
  out->set_cost(evaluation.cost);
  out->set_observation_rmse_rad(evaluation.observation_rmse);
  out->set_termination(std::string(estimator::to_string(evaluation.termination)));
  add_simulation_errors(evaluation.simulation, out->mutable_simulation());
  out->set_simulation_termination(
      std::string(estimator::to_string(evaluation.simulation_termination)));
  for (const std::string& note : format_notes(fold.calibration.notes)) out->add_notes(note);
}

const FrictionLawScore& at(const FrictionLawComparison& comparison, int index) {
  return comparison.laws[static_cast<std::size_t>(index)];
}

void add_law(const FrictionLawScore& score, v1::LawResult* out) {
  out->set_law(score.law.name);
  out->set_parameters(score.parameters);
  out->set_failure(score.failure);
  if (!score.has_result()) return;
  for (const double error : score.errors) out->add_errors_rad(error);
  out->set_error_rad(std::exp(score.log_error.value));
  out->set_error_relative_deviation(score.log_error.deviation);
  out->set_log_ratio(score.log_ratio.value);
  out->set_log_ratio_deviation(score.log_ratio.deviation);
  out->set_fit_error_rad(score.fit_error);
  out->set_converged(score.converged);
  for (const std::string& name : score.at_zero) out->add_at_zero(name);
  out->set_reduces_to(score.reduces_to);
  add_parameter_results(score.estimates, {}, out->mutable_estimates());
}

}  // namespace

std::vector<RecordingPredictionErrors> prediction_errors_by_recording(
    const estimator::Validation& validation) {
  std::vector<RecordingPredictionErrors> rows;
  std::vector<const ValidationWindow*> all, own;
  for (const ValidationWindow& window : validation.windows) {
    if (!own.empty() && own.front()->recording != window.recording) {
      rows.push_back(errors_of(own.front()->recording, own));
      own.clear();
    }
    own.push_back(&window);
    all.push_back(&window);
  }
  if (!own.empty()) rows.push_back(errors_of(own.front()->recording, own));
  if (rows.size() > 1) rows.push_back(errors_of("", all));
  return rows;
}

std::string validation_json(const estimator::Validation& validation,
                            const ValidationSettings& choice, const CalibrationMetadata& context) {
  v1::ValidationResult result;
  result.set_parameters_file(choice.parameters_file);
  result.set_window_length_s(choice.window);
  result.set_start_length_s(validation.start_window);
  result.set_kind(
      estimate_kind_name(estimator::select_estimate_kind(choice.estimate, context.options)));
  for (const estimator::Parameter& parameter : choice.estimate.parameters) {
    v1::KeptParameter* kept = result.add_parameters();
    kept->set_name(parameter.name);
    kept->set_value(parameter.value);
    kept->set_unit(parameter.unit);
  }
  const std::vector<RecordingPredictionErrors> rows = prediction_errors_by_recording(validation);
  for (const RecordingPredictionErrors& row : rows) {
    if (!row.recording.empty()) add_errors(row, validation, result.add_recordings());
  }
  if (!rows.empty()) {
    add_errors(rows.back(), validation, result.mutable_all());
    result.mutable_all()->clear_recording();
  }
  for (const ValidationWindow& window : validation.windows) {
    add_window(window, result.add_windows());
  }
  result.set_motionless_windows(validation.still);
  for (const std::string& note : format_notes(validation.notes)) result.add_notes(note);
  for (const UsedRecording& use : context.recordings) {
    for (const std::string& note : describe_import(use.summary)) result.add_notes(note);
  }
  return finish_result_json(result, context);
}

CrossValidationErrors compute_cross_validation_errors(
    const estimator::CrossValidation& validation) {
  CrossValidationErrors errors;
  errors.observation = diagonal_rms(validation.observation);
  for (std::size_t j = 0; j < validation.joints.size(); ++j) {
    errors.simulation.push_back(
        {validation.joints[j], diagonal_rms(validation.simulation[j]), validation.kinds[j]});
  }
  return errors;
}

bool have_all_folds_converged(const estimator::CrossValidation& validation) {
  return std::all_of(
      validation.folds.begin(), validation.folds.end(),
      [](const estimator::CrossValidationFold& fold) { return fold.calibration.converged(); });
}

std::string cross_validation_json(const estimator::CrossValidation& validation,
                                  const CalibrationMetadata& context) {
  v1::CrossValidationResult result;
  for (const std::string& part : validation.parts) result.add_parts(part);
  for (std::size_t i = 0; i < validation.folds.size(); ++i) {
    add_fold(validation.parts[i], validation.folds[i], result.add_folds());
  }
  const CrossValidationErrors errors = compute_cross_validation_errors(validation);
  result.set_observation_rmse_rad(errors.observation);
  add_simulation_errors(errors.simulation, result.mutable_simulation());
  add_matrix_rows(validation.observation, result.mutable_observation_rmse_matrix_rad());
  for (std::size_t j = 0; j < validation.joints.size(); ++j) {
    v1::SimulationMatrix* matrix = result.add_simulation_matrices();
    matrix->set_joint(validation.joints[j]);
    matrix->set_unit(estimator::joint_units(validation.kinds[j]).coordinate);
    add_matrix_rows(validation.simulation[j], matrix->mutable_rmse_rad());
  }
  for (const estimator::ParameterSpread& spread : validation.parameters) {
    v1::ParameterSpreadResult* out = result.add_parameters();
    out->set_name(spread.name);
    out->set_unit(spread.unit);
    out->set_mean(spread.mean);
    out->set_jackknife_standard_deviation(spread.standard_deviation);
    out->set_reported_standard_deviation(spread.reported_standard_deviation);
    for (const int fold : spread.unidentified) {
      out->add_not_identifiable_without(validation.parts[static_cast<std::size_t>(fold)]);
    }
  }
  result.set_converged(have_all_folds_converged(validation));
  if (!validation.folds.empty()) {
    *result.mutable_options() = used_options(validation.folds.front().calibration, context.options);
  }
  for (const UsedRecording& use : context.recordings) {
    for (const std::string& note : describe_import(use.summary)) result.add_notes(note);
  }
  return finish_result_json(result, context);
}

std::string describe_recommended_law(const FrictionLawComparison& comparison) {
  if (comparison.recommended < 0) return "no friction law could be fitted";
  const FrictionLawScore& recommended = at(comparison, comparison.recommended);
  std::vector<int> indices = comparison.indistinguishable;
  std::erase(indices, comparison.recommended);
  const std::string others =
      join_items(indices, [&](int index) { return at(comparison, index).law.name; });
  if (others.empty()) return "use " + recommended.law.name + ": no other law predicts as well";
  return "use " + recommended.law.name + "; the data cannot distinguish it from " + others;
}

std::string friction_law_comparison_json(const FrictionLawComparison& comparison,
                                         const CalibrationMetadata& context) {
  v1::LawComparisonResult result;
  for (const std::string& joint : comparison.joints) result.add_joints(joint);
  for (const std::string& part : comparison.parts) result.add_parts(part);
  result.set_folds(comparison.folds);
  for (const FrictionLawScore& score : comparison.laws) add_law(score, result.add_laws());
  if (comparison.recommended >= 0) {
    result.set_recommended(at(comparison, comparison.recommended).law.name);
  }
  for (const int index : comparison.indistinguishable)
    result.add_indistinguishable_laws(at(comparison, index).law.name);
  result.set_verdict(describe_recommended_law(comparison));
  return finish_result_json(result, context);
}

}  // namespace service
