#pragma once

#include <limits>
#include <string>
#include <vector>

#include "service/import/parameter_edits.hpp"
#include "service/import/parameter_values.hpp"
#include "service/import/recording_selection.hpp"

namespace service {

/// A recording that takes part, and how much of it.
struct RecordingSource {
  std::string path;
  std::string name = {};  ///< that people know it by; empty: its path
  Selection selection = {};
  std::string origin = {};  ///< by which results tell of it, "session:ID"; empty: its path
};

/// Everything a calibration is asked with, whoever asks: the command line, a job, a program.
struct CalibrationRequest {
  std::string rig_name;  ///< of the rig's file, for messages
  std::string rig_text;  ///< what the file says (proto/rig.proto)
  ParameterValues values = {};
  ParameterEdits edits = {};  ///< applied after the values
  std::vector<RecordingSource> recordings;
  estimator::CalibrationOptions options = {};
  std::string version = {};        ///< of this program
  std::string operator_name = {};  ///< who did it, for reports; empty: not told
  /// Longest that the calibration may take [s]: what would take longer however fast it converges
  /// is refused. On one's own machine one may wait.
  double duration_s_max = std::numeric_limits<double>::infinity();
};

}  // namespace service
