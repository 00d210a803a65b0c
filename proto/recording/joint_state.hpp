#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace proto {

inline constexpr std::string_view kJointStateSchema = "sensor_msgs/msg/JointState";

/// ROS 2 message of the type sensor_msgs/msg/JointState.
struct JointState {
  std::int64_t stamp_ns = 0;  ///< time stamp of its header
  std::vector<std::string> names;
  std::vector<double> positions;  ///< [rad] or [m]; one per name, or empty; likewise the next two
  std::vector<double> velocities;
  std::vector<double> efforts;  ///< [N·m] or [N]
};

/// Largest number of joints in a message.
inline constexpr std::size_t kJointsMax = 1024;

/// Parses a JointState message in the CDR encoding of ROS 2 (plain CDR of DDS-XTypes 1.3, 7.4.3,
/// either byte order). Returns nullopt for any other bytes.
std::optional<JointState> parse_joint_state(std::span<const std::uint8_t> bytes);

}  // namespace proto
