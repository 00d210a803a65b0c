#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "service/import/calibration_request.hpp"
#include "service/import/csv_recording.hpp"
#include "service/import/rig_file.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Input of a calibration, loaded and checked.
struct CalibrationInput {
  std::string rig_name;
  Rig rig;  ///< with values and edits applied
  std::vector<estimator::Recording> recordings;
  CalibrationContext context;  ///< complete except for the wall time; holds the options to use
};

/// Function that reads the recording of a source in the rig's format.
using RecordingReader = std::function<ImportedRecording(const RecordingSource&, const Rig&)>;

/// Loads the rig and the recordings.
/// @param read  default: reads the file at the source's path
/// @throws proto::InputError
CalibrationInput load_input(const CalibrationRequest& request, const RecordingReader& read = {});

/// Returns the message of an estimator failure, with the names of the input files.
/// @param fault  the estimator's message
std::string describe_fault(const CalibrationInput& input, const std::exception& fault);

}  // namespace service
