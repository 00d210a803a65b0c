#pragma once

#include <string>

namespace service {

/// What a file is, by its name and first bytes.
enum class RecordingKind {
  kDaqMcap,     ///< of rigcal-daq, or MCAP of which nothing is known
  kJointState,  ///< MCAP: a bag of ROS 2 with sensor_msgs/msg/JointState
  kStateMcap,   ///< MCAP that `rigcal estimate` wrote
  kMat,
  kHdf5,
  kParquet,  ///< not read
  kJson,     ///< a result of rigcal, no recording
  kTable     ///< anything else: CSV
};

/// A file that cannot be read is what its name says.
RecordingKind recording_kind(const std::string& path);

/// @throws proto::InputError for kinds that are no recordings or not read, saying what to do
void refuse_unread_kind(const std::string& path, RecordingKind kind);

}  // namespace service
