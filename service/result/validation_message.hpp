#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/cross_validation.hpp"
#include "estimator/calibrate/law_comparison.hpp"
#include "estimator/calibrate/validation.hpp"
#include "service/options/parameter_values.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Prediction errors of one sensor over the prediction windows of a recording, or of all
/// recordings.
struct SensorPredictionErrors {
  estimator::PredictionError all;  ///< errors pooled over the windows
  double median_window = 0.0;      ///< median of the RMSE per window [rad or m]
  double worst_window = 0.0;       ///< largest RMSE of a window [rad or m]
};

/// Prediction errors of each sensor in a recording, or in all recordings.
struct RecordingPredictionErrors {
  std::string recording;  ///< name of the recording; empty for all recordings
  int windows = 0;        ///< number of prediction windows
  std::vector<SensorPredictionErrors> sensors;
};

/// Returns the prediction errors of each recording. For several recordings, the last entry contains
/// the errors over all recordings.
std::vector<RecordingPredictionErrors> prediction_errors_by_recording(
    const estimator::Validation& validation);

/// Parameter values and window length of a validation.
struct ValidationSettings {
  std::string parameters_file;  ///< result file with the values; empty if from the rig file
  double window = 0.0;          ///< window length [s]; 0 for whole segments
  estimator::Mechanism estimate;
};

/// Returns the result of a validation as JSON (rigcal.v1.ValidationResult).
std::string validation_json(const estimator::Validation& validation,
                            const ValidationSettings& choice, const CalibrationMetadata& context);

/// Prediction errors of a cross-validation on held-out parts of the data, over all folds.
struct CrossValidationErrors {
  double observation = 0.0;                            ///< RMS error of the estimated states [rad]
  std::vector<estimator::OpenLoopError> simulation;    ///< open-loop errors per joint
};

/// Computes the prediction errors of a cross-validation as root mean squares over its folds.
CrossValidationErrors compute_cross_validation_errors(const estimator::CrossValidation& validation);

/// Returns whether the calibrations in all folds of a cross-validation converged.
bool have_all_folds_converged(const estimator::CrossValidation& validation);

/// Returns the result of a cross-validation as JSON (rigcal.v1.CrossValidationResult).
std::string cross_validation_json(const estimator::CrossValidation& validation,
                                  const CalibrationMetadata& context);

/// Returns a sentence with the recommended friction law and the laws that predict equally well.
std::string describe_recommended_law(const estimator::FrictionLawComparison& comparison);

/// Returns a comparison of friction laws as JSON (rigcal.v1.LawComparisonResult).
std::string friction_law_comparison_json(const estimator::FrictionLawComparison& comparison,
                                         const CalibrationMetadata& context);

}  // namespace service
