#pragma once

#include <functional>
#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "estimator/calibrate/law_comparison.hpp"
#include "estimator/calibrate/validation.hpp"
#include "estimator/diagnostics/repair/diagnosed_calibration.hpp"
#include "estimator/signal/time_series.hpp"
#include "proto/text/input_error.hpp"
#include "service/calibration/calibration_input.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Returns the encoder readings that were rejected: readings in the original recordings `read` that
/// are missing in the repaired recordings.
/// @param findings  findings of the repair; they distinguish repetitions from faulty readings
std::vector<RejectedReading> find_rejected_readings(
    const std::vector<estimator::Recording>& read,
    const std::vector<estimator::Recording>& repaired, const estimator::Mechanism& mechanism,
    const std::vector<estimator::Finding>& findings);

/// Exception for a fault in the recordings or the rig file that would make estimates meaningless.
/// The message contains the file names and the remedy.
class FaultyInput : public proto::InputError {
 public:
  FaultyInput(const std::string& what, std::vector<estimator::Finding> all)
      : proto::InputError(what), findings(std::move(all)) {}

  std::vector<estimator::Finding> findings;  ///< faults, warnings and notes
};

/// Searches the recordings and the rig file for faults before a fit. Each finding contains the line
/// of the rig file to correct.
estimator::DiagnosedInput diagnose_input(const CalibrationInput& input,
                                         const estimator::CalibrationMonitor& monitor = {});

/// Searches the rig file and the recordings for faults, and replaces `input` by a repaired version.
/// @return findings of the search
/// @throws FaultyInput for a fault that would make the estimates meaningless, unless the options
///         disable the check
std::vector<estimator::Finding> diagnose_and_repair_input(CalibrationInput& input);

/// Estimates the parameters of a rig, after a search for faults and a repair of the input. The
/// notes of the result include notes on the import and on joints that the model does not reproduce.
/// On return, `input` contains the repaired data and the wall time.
/// @throws FaultyInput for a fault that would make the estimates meaningless
estimator::Calibration run_calibration(CalibrationInput& input,
                                       const estimator::CalibrationMonitor& monitor);

/// Runs a cross-validation, which predicts each part of the data with estimates from all other
/// parts. Stores the wall time in `input`.
/// @throws InputError for unusable input, or if a part cannot be left out
estimator::CrossValidation run_cross_validation(CalibrationInput& input,
                                                const std::vector<estimator::Recording>& parts,
                                                const estimator::CalibrationMonitor& monitor,
                                                const std::function<void(int)>& on_fold);

/// Compares friction laws by their prediction errors on held-out parts of the data. Stores the wall
/// time in `input`.
estimator::FrictionLawComparison run_friction_law_comparison(
    CalibrationInput& input, const std::vector<estimator::Recording>& parts,
    const estimator::FrictionLawComparisonOptions& choice,
    const estimator::CalibrationMonitor& monitor,
    const std::function<void(const estimator::FrictionLaw& law, int fold)>& on_fold);

/// Evaluates how well given parameter values predict recordings. The request or its rig file
/// contains the values. Stores the kind, step and weight of the values and the wall time in
/// `input`.
/// @param input      returned by `load_calibration_input` for the request
/// @param window     length of the windows that are predicted [s]; 0 for whole segments
/// @param start      part of a window that determines its initial state [s]; 0 for all of it
/// @param on_window  called before each prediction with the index of the window, from 0, and the
///                   number of windows
estimator::Validation run_validation(const CalibrationRequest& request, double window, double start,
                                     CalibrationInput& input,
                                     const estimator::CalibrationMonitor& monitor,
                                     const std::function<void(int index, int count)>& on_window);

}  // namespace service
