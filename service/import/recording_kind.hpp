#pragma once

#include <string>

namespace service {

/// What an MCAP file holds of what can be read.
enum class McapKind {
  kRecording,    ///< of rigcal-daq, or nothing that is known
  kJointStates,  ///< a bag of ROS 2 with sensor_msgs/msg/JointState
  kStates        ///< what `rigcal estimate` wrote
};

/// By the first of its records that tells.
McapKind mcap_kind(const std::string& path);

}  // namespace service
