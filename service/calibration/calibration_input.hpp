#pragma once

#include <exception>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "estimator/calibrate/calibration.hpp"
#include "service/import/csv_recording.hpp"
#include "service/import/parameter_edits.hpp"
#include "service/import/parameter_values.hpp"
#include "service/import/recording_selection.hpp"
#include "service/import/rig_file.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// A recording that takes part, and how much of it.
struct RecordingSource {
  std::string path;
  std::string name = {};  ///< that people know it by; empty: its path
  Selection selection = {};
};

/// Everything a calibration is asked with, whoever asks: the command line, a job, a program.
struct CalibrationRequest {
  std::string rig_name;  ///< of the rig's file, for messages
  std::string rig_text;  ///< what the file says (proto/rig.proto)
  ParameterValues values = {};
  ParameterEdits edits = {};  ///< applied after the values
  std::vector<RecordingSource> recordings;
  estimator::CalibrationOptions options = {};
  std::string version = {};  ///< of this program
  /// Longest that the calibration may take [s]: what would take longer however fast it converges
  /// is refused. On one's own machine one may wait.
  double duration_s_max = std::numeric_limits<double>::infinity();
};

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
