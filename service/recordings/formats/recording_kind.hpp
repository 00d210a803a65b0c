#pragma once

#include <string>

namespace service {

/// Format of a recording file, determined from its name and its first bytes.
enum class RecordingKind {
  kDaqMcap,     ///< MCAP of rigcal-daq, or MCAP of unknown origin
  kJointState,  ///< MCAP bag of ROS 2 with sensor_msgs/msg/JointState
  kStateMcap,   ///< MCAP written by `rigcal estimate`
  kMat,
  kHdf5,
  kParquet,  ///< not supported
  kJson,     ///< JSON result of rigcal, not a recording
  kTable     ///< CSV, or any other file
};

/// Returns the format of a recording file. If the file is unreadable, the name alone decides.
RecordingKind recording_kind(const std::string& path);

/// Checks that a file of this format can be imported.
/// @throws proto::InputError with a remedy, if the format is unsupported or not a recording
void refuse_unsupported_kind(const std::string& path, RecordingKind kind);

}  // namespace service
