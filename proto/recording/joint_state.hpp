#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace proto {

inline constexpr std::string_view kJointStateSchema = "sensor_msgs/msg/JointState";

/// A message sensor_msgs/msg/JointState of ROS 2.
struct JointState {
  std::int64_t stamp_ns = 0;  ///< of its header
  std::vector<std::string> names;
  std::vector<double> positions;  ///< [rad] or [m]; one a name, or none at all, as the next two
  std::vector<double> velocities;
  std::vector<double> efforts;  ///< [N·m] or [N]
};

/// Joints of a message, at most: more than any robot has.
inline constexpr std::size_t kJointsMax = 1024;

/// Reads the CDR encoding that ROS 2 writes (plain CDR of DDS-XTypes 1.3, 7.4.3, of either byte
/// order). Nothing for bytes that are not exactly that.
std::optional<JointState> parse_joint_state(std::span<const std::uint8_t> bytes);

}  // namespace proto
