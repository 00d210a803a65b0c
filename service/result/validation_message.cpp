#include "service/result/validation_message.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/calibrate/calibrate.hpp"
#include "proto/validation.pb.h"
#include "service/messages/message_text.hpp"
#include "service/options/option_texts.hpp"
#include "service/recordings/import_notes.hpp"
#include "service/result/result_message.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using estimator::ValidationWindow;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

RecordingErrors errors_of(const std::string& recording,
                          const std::vector<const ValidationWindow*>& windows) {
  RecordingErrors result{recording, static_cast<int>(windows.size()), {}};
  for (std::size_t i = 0; i < windows.front()->errors.size(); ++i) {
    SensorErrors errors;
    std::vector<double> each;
    for (const ValidationWindow* window : windows) {
      errors.all.add(window->errors[i]);
      // Skip windows without readings of the sensor.
      if (window->errors[i].readings > 0) each.push_back(window->errors[i].rmse());
    }
    if (each.empty()) each.push_back(std::nan(""));
    errors.median_window = median(each);
    errors.worst_window = *std::ranges::max_element(each);
    result.sensors.push_back(errors);
  }
  return result;
}

void add_errors(const RecordingErrors& errors, const estimator::Validation& validation,
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

}  // namespace

std::vector<RecordingErrors> errors_by_recording(const estimator::Validation& validation) {
  std::vector<RecordingErrors> rows;
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
                            const ValidationSettings& choice, const CalibrationContext& context) {
  v1::ValidationResult result;
  result.set_parameters_file(choice.parameters_file);
  result.set_window_length_s(choice.window);
  result.set_start_length_s(validation.start_window);
  result.set_kind(to_text(estimator::chosen_kind(choice.estimate, context.options)));
  for (const estimator::Parameter& parameter : choice.estimate.parameters) {
    v1::KeptParameter* kept = result.add_parameters();
    kept->set_name(parameter.name);
    kept->set_value(parameter.value);
    kept->set_unit(parameter.unit);
  }
  const std::vector<RecordingErrors> rows = errors_by_recording(validation);
  for (const RecordingErrors& row : rows) {
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
  for (const std::string& note : note_texts(validation.notes)) result.add_notes(note);
  for (const RecordingUse& use : context.recordings) {
    for (const std::string& note : describe_import(use.summary)) result.add_notes(note);
  }
  return finished_json(result, context);
}

}  // namespace service
