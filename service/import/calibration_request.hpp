#pragma once

#include <limits>
#include <string>
#include <vector>

#include "service/import/parameter_edits.hpp"
#include "service/import/parameter_values.hpp"
#include "service/import/recording_selection.hpp"

namespace service {

/// Input recording and the part of it that is used.
struct RecordingSource {
  std::string path;
  std::string name = {};  ///< display name; empty: its path
  Selection selection = {};
  std::string origin = {};  ///< name in results, "session:ID"; empty: its path
};

/// Complete request of a calibration from the command line, a job or a program.
struct CalibrationRequest {
  std::string rig_name;  ///< name of the rig file, for messages
  std::string rig_text;  ///< contents of the rig file (proto/rig.proto)
  ParameterValues values = {};
  ParameterEdits edits = {};  ///< applied after the values
  std::vector<RecordingSource> recordings;
  estimator::CalibrationOptions options = {};
  std::string version = {};        ///< version of this program
  std::string operator_name = {};  ///< operator, for reports; empty: unknown
  /// Time limit of the calibration [s]. A request that cannot finish in this time, however fast it
  /// converges, is refused. Infinite on a user's own computer.
  double duration_s_max = std::numeric_limits<double>::infinity();
};

}  // namespace service
