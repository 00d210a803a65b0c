#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/cross_validation.hpp"
#include "estimator/calibrate/law_comparison.hpp"
#include "estimator/calibrate/validation.hpp"
#include "service/options/parameter_values.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Prediction errors of one sensor in the prediction windows of one recording, or of all
/// recordings.
struct SensorErrors {
  estimator::PredictionError all;  ///< errors pooled over the windows
  double median_window = 0.0;      ///< median of the RMSE per window [rad or m]
  double worst_window = 0.0;       ///< largest RMSE of a window [rad or m]
};

/// Prediction errors of all sensors in one recording, or in all recordings.
struct RecordingErrors {
  std::string recording;  ///< name of the recording; empty for all recordings
  int windows = 0;        ///< number of prediction windows
  std::vector<SensorErrors> sensors;
};

/// Returns the prediction errors of each recording. If there are several recordings, the errors
/// over all of them follow.
std::vector<RecordingErrors> errors_by_recording(const estimator::Validation& validation);

/// Parameter values and window length that a validation used.
struct ValidationSettings {
  std::string parameters_file;  ///< result file with the values; empty if from the rig file
  double window = 0.0;          ///< window length [s]; 0 for whole segments
  estimator::Mechanism estimate;
};

/// Returns the result of a validation as JSON (rigcal.v1.ValidationResult).
std::string validation_json(const estimator::Validation& validation,
                            const ValidationSettings& choice, const CalibrationContext& context);

/// Prediction errors of a cross-validation on the held-out pieces of data, over all folds.
struct PredictionErrors {
  double observation = 0.0;                            ///< RMS error of the estimated states [rad]
  std::vector<estimator::SimulationError> simulation;  ///< open-loop errors per joint
};

/// Returns the prediction errors of a cross-validation, as root mean squares over the folds.
PredictionErrors prediction_errors(const estimator::CrossValidation& validation);

/// Checks whether the calibrations of all folds of a cross-validation converged.
bool has_converged(const estimator::CrossValidation& validation);

/// Returns the result of a cross-validation as JSON, with all fields of
/// rigcal.v1.CrossValidationResult.
std::string cross_validation_json(const estimator::CrossValidation& validation,
                                  const CalibrationContext& context);

/// Describes which friction law to use, and which other laws the data cannot distinguish from it.
std::string describe_recommendation(const estimator::LawComparison& comparison);

/// Returns a comparison of friction laws as JSON (rigcal.v1.LawComparisonResult).
std::string law_comparison_json(const estimator::LawComparison& comparison,
                                const CalibrationContext& context);

}  // namespace service
