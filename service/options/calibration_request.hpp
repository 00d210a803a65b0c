#pragma once

#include <limits>
#include <string>
#include <vector>

#include "service/options/parameter_values.hpp"
#include "service/recordings/recording_selection.hpp"
#include "service/rig/parameters/parameter_edits.hpp"

namespace service {

/// Recording file for a calibration, and the part of the recording to use.
struct RecordingSource {
  std::string path;
  std::string name = {};  ///< display name; if empty, the path is shown
  RecordingSelection selection = {};
  std::string origin = {};  ///< name in results, e.g. "session:ID"; if empty, the path
};

/// Request for a calibration from the command line, a service job or a program: input and options.
struct CalibrationRequest {
  std::string rig_name;  ///< name of the rig file, for messages
  std::string rig_text;  ///< contents of the rig file (proto/rig.proto)
  ParameterValues values = {};
  ParameterEdits edits = {};  ///< changes of parameters, applied after `values`
  std::vector<RecordingSource> recordings;
  estimator::CalibrationOptions options = {};
  std::string version = {};        ///< version of this program
  std::string operator_name = {};  ///< name of the operator for reports; empty if unknown
  /// Time limit of the calibration [s]; infinite: no limit. rigcal refuses a calibration if even
  /// one iteration would take longer.
  double duration_s_max = std::numeric_limits<double>::infinity();
};

}  // namespace service
