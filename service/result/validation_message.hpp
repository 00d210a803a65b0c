#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/validation.hpp"
#include "service/import/parameter_values.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Errors of one sensor over the windows of a recording, or over all.
struct SensorErrors {
  estimator::PredictionError all;
  double median_window = 0.0;  ///< of the windows' RMSE [rad or m]
  double worst_window = 0.0;
};

/// One row of the table: a recording and its sensors.
struct RecordingErrors {
  std::string recording;  ///< empty: all of them
  int windows = 0;
  std::vector<SensorErrors> sensors;
};

/// Every recording in turn, then all of them where there are several.
std::vector<RecordingErrors> errors_by_recording(const estimator::Validation& validation);

/// What a validation was asked for.
struct ValidationChoice {
  std::string parameters_file;  ///< empty: the rig file's own values
  double window = 0.0;          ///< [s]; 0: whole segments
  estimator::Mechanism estimate;
};

/// rigcal.v1.ValidationResult as JSON.
std::string validation_json(const estimator::Validation& validation, const ValidationChoice& choice,
                            const CalibrationContext& context);

}  // namespace service
