#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/validation.hpp"
#include "service/import/parameter_values.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Errors of one sensor over the windows of one or all recordings.
struct SensorErrors {
  estimator::PredictionError all;
  double median_window = 0.0;  ///< median of the windows' RMSE [rad or m]
  double worst_window = 0.0;
};

/// Table row: one recording and its sensors.
struct RecordingErrors {
  std::string recording;  ///< empty: all recordings
  int windows = 0;
  std::vector<SensorErrors> sensors;
};

/// Returns one row per recording, then one for all if there are several.
std::vector<RecordingErrors> errors_by_recording(const estimator::Validation& validation);

/// Options of a validation.
struct ValidationSettings {
  std::string parameters_file;  ///< empty: the rig file's own values
  double window = 0.0;          ///< [s]; 0: whole segments
  estimator::Mechanism estimate;
};

/// Returns rigcal.v1.ValidationResult as JSON.
std::string validation_json(const estimator::Validation& validation,
                            const ValidationSettings& choice, const CalibrationContext& context);

}  // namespace service
