#pragma once

#include <limits>
#include <string>
#include <vector>

#include "service/options/parameter_values.hpp"
#include "service/recordings/recording_selection.hpp"
#include "service/rig/parameters/parameter_edits.hpp"

namespace service {

/// Recording that a calibration reads, and the part of the recording that it uses.
struct RecordingSource {
  std::string path;
  std::string name = {};  ///< display name; if empty, the path is shown
  Selection selection = {};
  std::string origin = {};  ///< name in results, e.g. "session:ID"; if empty, the path
};

/// Inputs and options of a calibration, from the command line, a service job or a program.
struct CalibrationRequest {
  std::string rig_name;  ///< name of the rig file, for messages
  std::string rig_text;  ///< contents of the rig file (proto/rig.proto)
  ParameterValues values = {};
  ParameterEdits edits = {};  ///< changes to parameters, applied after `values`
  std::vector<RecordingSource> recordings;
  estimator::CalibrationOptions options = {};
  std::string version = {};        ///< version of this program
  std::string operator_name = {};  ///< name of the operator for reports; empty if unknown
  /// Time limit of the calibration [s]. A calibration is refused if it cannot finish in this time
  /// even with one iteration. The limit is infinite on a user's own computer.
  double duration_s_max = std::numeric_limits<double>::infinity();
};

}  // namespace service
