#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "estimator/diagnostics/diagnosed_calibration.hpp"
#include "proto/text/input_error.hpp"
#include "service/calibration/calibration_input.hpp"

namespace service {

/// Recordings or a rig file with a fault that would make the estimates meaningless. The message
/// names the files and the remedy.
class FaultyInput : public proto::InputError {
 public:
  FaultyInput(const std::string& what, std::vector<estimator::Finding> all)
      : proto::InputError(what), findings(std::move(all)) {}

  std::vector<estimator::Finding> findings;  ///< all, not only the faults
};

/// Subject of a calibration: a mechanism with its initial values, and recordings.
struct CalibrationSubject {
  const estimator::Mechanism& mechanism;
  const std::vector<estimator::Recording>& recordings;
  estimator::SensorDescription facts = {};
  bool examined = true;  ///< false: skip the search for faults and repairs
};

/// Calibrates a subject. Commands, jobs, the Python package and studies all use this function.
/// @return `input` is empty if nothing was examined
/// @throws as estimator::calibrate_with_diagnostics
estimator::DiagnosedCalibration calibrate_subject(const CalibrationSubject& subject,
                                                  const estimator::CalibrationOptions& options,
                                                  const estimator::CalibrationMonitor& monitor);

/// Searches recordings and rig file for faults before any fit. Findings name places in the rig
/// file.
/// @throws InputError if the estimator cannot use them
estimator::DiagnosedInput examine_input(const CalibrationInput& input,
                                        const estimator::CalibrationMonitor& monitor = {});

/// Replaces rig and recordings by their repaired versions.
/// @return the findings
/// @throws FaultyInput for a fault that would make the estimates meaningless, unless the options
///         disable the check
std::vector<estimator::Finding> repair_input(CalibrationInput& input);

/// Examines, repairs and calibrates. The result's notes include those of import and misfit.
/// On return, `input` holds the repaired input that was used, and the wall time.
/// @throws InputError, FaultyInput
estimator::Calibration run_calibration(CalibrationInput& input,
                                       const estimator::CalibrationMonitor& monitor);

/// Cross-validates: predicts every piece with the estimates from all others. Stores the wall time
/// in the input's context.
/// @throws InputError, also if a piece cannot be left out
estimator::CrossValidation run_cross_validation(CalibrationInput& input,
                                                const std::vector<estimator::Recording>& pieces,
                                                const estimator::CalibrationMonitor& monitor,
                                                const std::function<void(int)>& on_fold);

}  // namespace service
