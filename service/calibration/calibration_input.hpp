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

/// What the estimator is given.
struct CalibrationInput {
  std::string rig_name;
  Rig rig;  ///< with values and edits applied
  std::vector<estimator::Recording> recordings;
  CalibrationContext context;  ///< all but the wall time; its options are those to use
};

/// Makes a recording of a source, as the rig describes it.
using RecordingReader = std::function<ImportedRecording(const RecordingSource&, const Rig&)>;

/// Loads the rig and the recordings.
/// @param read  default: from the file at the source's path
/// @throws proto::InputError
CalibrationInput load_input(const CalibrationRequest& request, const RecordingReader& read = {});

/// What the estimator could not use, with the names of what it came from.
/// @param fault  the estimator's message
std::string describe_fault(const CalibrationInput& input, const std::exception& fault);

}  // namespace service
