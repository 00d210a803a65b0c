#pragma once

#include <string>

namespace service {

/// Kind of a file, by its name and first bytes.
enum class RecordingKind {
  kDaqMcap,     ///< of rigcal-daq, or other MCAP
  kJointState,  ///< MCAP: a bag of ROS 2 with sensor_msgs/msg/JointState
  kStateMcap,   ///< MCAP written by `rigcal estimate`
  kMat,
  kHdf5,
  kParquet,  ///< not supported
  kJson,     ///< a result of rigcal, not a recording
  kTable     ///< anything else: CSV
};

/// Returns the kind of a file; for an unreadable file the kind of its name.
RecordingKind recording_kind(const std::string& path);

/// @throws proto::InputError with the remedy, for unsupported kinds and files that are not
///         recordings
void refuse_unsupported_kind(const std::string& path, RecordingKind kind);

}  // namespace service
