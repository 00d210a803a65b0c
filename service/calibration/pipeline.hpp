#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "estimator/doctor/examined_calibration.hpp"
#include "proto/text/input_error.hpp"
#include "service/calibration/calibration_input.hpp"

namespace service {

/// Recordings or a description with which estimates would be nonsense. The message names files and
/// what to do.
class FaultyInput : public proto::InputError {
 public:
  FaultyInput(const std::string& what, std::vector<estimator::Finding> all)
      : proto::InputError(what), findings(std::move(all)) {}

  std::vector<estimator::Finding> findings;  ///< not the faults alone
};

/// What is calibrated: a mechanism with its start values, and recordings.
struct CalibrationSubject {
  const estimator::Mechanism& mechanism;
  const std::vector<estimator::Recording>& recordings;
  estimator::SensorFacts facts = {};
  bool examined = true;  ///< false: they are as they were made, and nothing is looked for in them
};

/// The one way from there to estimates, which commands, jobs, programs and studies take.
/// @return without `input` where nothing was examined
/// @throws as estimator::calibrate_examined
estimator::ExaminedCalibration calibrate_subject(const CalibrationSubject& subject,
                                                 const estimator::CalibrationOptions& options,
                                                 const estimator::CalibrationMonitor& monitor);

/// Looks at recordings and description before anything is fitted. Findings name the places in the
/// rig's file.
/// @throws InputError where the estimator cannot use them
estimator::ExaminedInput examine_input(const CalibrationInput& input,
                                       const estimator::CalibrationMonitor& monitor = {});

/// Replaces rig and recordings by what was repaired of them.
/// @return what was found
/// @throws FaultyInput where something was found with which estimates would be nonsense, unless the
///         options say to use things as they are
std::vector<estimator::Finding> repair_input(CalibrationInput& input);

/// Examines, repairs and calibrates; the notes tell what import and misfit have to say as well.
/// Leaves in `input` what was estimated from in the end, and the wall time.
/// @throws InputError, FaultyInput
estimator::Calibration run_calibration(CalibrationInput& input,
                                       const estimator::CalibrationMonitor& monitor);

/// Predicts every piece from all others; the wall time goes into the input's context.
/// @throws InputError, also where a piece cannot be left out
estimator::CrossValidation run_cross_validation(CalibrationInput& input,
                                                const std::vector<estimator::Recording>& pieces,
                                                const estimator::CalibrationMonitor& monitor,
                                                const std::function<void(int)>& on_fold);

}  // namespace service
