#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "service/options/calibration_request.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/result/calibration_message.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Rig, recordings and options of a calibration, loaded and checked.
struct CalibrationInput {
  std::string rig_name;
  Rig rig;  ///< rig with the requested values and changes applied
  std::vector<estimator::Recording> recordings;
  CalibrationContext context;  ///< metadata with the options; the wall time is still missing
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
