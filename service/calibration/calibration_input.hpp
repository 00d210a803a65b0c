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

/// Checks before a calibration starts that it can finish within its time limit.
/// @param step        requested simulation step [s]; 0 if rigcal chooses the step
/// @param duration_s  time limit of the calibration [s]; infinite if there is no limit
/// @throws proto::InputError for an invalid step, or if even one iteration would take too long
void check_work_budget(const std::vector<estimator::Recording>& recordings, double step,
                       double duration_s);

/// Rig, recordings and options of a calibration, loaded and checked.
struct CalibrationInput {
  std::string rig_name;
  Rig rig;  ///< rig with the requested values and changes applied
  std::vector<estimator::Recording> recordings;
  std::vector<std::string> changes;  ///< requested changes of the rig file's parameters
  CalibrationContext context;        ///< metadata with the options; the wall time is still missing
};

/// Function that reads a recording in the recording format of the rig.
using RecordingReader = std::function<ImportedRecording(const RecordingSource&, const Rig&)>;

/// Loads and checks the rig and the recordings that a request names.
/// @param read  function that reads a recording; by default it reads the file at the source's path
/// @throws proto::InputError for invalid input
CalibrationInput load_input(const CalibrationRequest& request, const RecordingReader& read = {});

/// Returns a message on a failure of the estimator, with the names of the input files.
std::string describe_fault(const CalibrationInput& input, const std::string& failure);

}  // namespace service
