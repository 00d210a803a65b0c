#pragma once

#include <functional>
#include <string>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "service/options/calibration_request.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/result/calibration_message.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Checks that a calibration of these recordings can finish within its time limit.
/// @param step        requested simulation step [s]; 0 if rigcal chooses the step
/// @param duration_s  time limit of the calibration [s]; infinite if there is no limit
/// @throws proto::InputError for an invalid step, or if even one iteration would take too long
void check_time_limit(const std::vector<estimator::Recording>& recordings, double step,
                      double duration_s);

/// Loaded and checked input of a calibration: rig, recordings and options.
struct CalibrationInput {
  std::string rig_name;
  Rig rig;  ///< rig with the requested values and changes applied
  std::vector<estimator::Recording> recordings;
  std::vector<std::string> changes;  ///< requested changes of the rig file's parameters
  CalibrationMetadata context;       ///< metadata with the options, but without the wall time
};

/// Function that reads a recording in the recording format of the rig.
using RecordingReader = std::function<ImportedRecording(const RecordingSource&, const Rig&)>;

/// Loads and checks the rig and the recordings of a calibration request.
/// @param read  function that reads a recording; by default it reads the file at the source's path
CalibrationInput load_calibration_input(const CalibrationRequest& request,
                                        const RecordingReader& read = {});

/// Returns an error message that adds the names of the input files to a failure of the estimator.
std::string describe_estimator_failure(const CalibrationInput& input, const std::string& failure);

}  // namespace service
