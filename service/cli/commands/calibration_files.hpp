#pragma once

#include "service/calibration/pipeline.hpp"
#include "service/cli/command.hpp"
#include "service/cli/estimation_options.hpp"
#include "service/cli/progress_line.hpp"
#include "service/result/calibrated_rig_file.hpp"

namespace service {

/// Calibrates in this process and shows a progress line. Prints the findings that prevent a
/// calibration.
/// @throws proto::InputError if the input is invalid
estimator::Calibration calibrate_locally(CalibrationInput& input, const InterruptFlag& interrupt,
                                         ProgressOptions shown, int threads);

/// Prints the table of a calibration's results and writes the requested files; neither if the
/// calibration was stopped.
ExitCode print_calibration(const estimator::Calibration& calibration, const CalibrationInput& input,
                           const ResultFiles& files);

}  // namespace service
