#pragma once

#include <array>
#include <string_view>

namespace proto {

/// Topics of a recording, each with its message type in proto/sample.proto.
struct Topic {
  std::string_view name;
  std::string_view message_type;
};

inline constexpr Topic kSampleTopic = {"/rig/sample", "rigcal.v1.Sample"};
inline constexpr Topic kCommandTopic = {"/rig/command", "rigcal.v1.Command"};
inline constexpr Topic kGapTopic = {"/rig/gap", "rigcal.v1.Gap"};
inline constexpr Topic kEventTopic = {"/rig/event", "rigcal.v1.Event"};
inline constexpr Topic kClockTopic = {"/rig/clock", "rigcal.v1.ClockFit"};
inline constexpr Topic kLoopStatsTopic = {"/rig/loop_stats", "rigcal.v1.LoopStats"};
/// Prefix of the topics of inertial sensors, followed by the sensor's name.
inline constexpr Topic kInertialTopics = {"/rig/inertial/", "rigcal.v1.InertialReading"};
/// Prefix of the topics of joint estimates, in a separate file, followed by the joint's name.
inline constexpr Topic kJointTopics = {"/rig/joint/", "rigcal.v1.JointEstimate"};

/// Name of the metadata record with the RecordingHeader, and its keys. The metadata of the samples'
/// channel has the same entries.
inline constexpr std::string_view kHeaderMetadata = "rigcal";
inline constexpr std::string_view kJointsKey = "hinges";
inline constexpr std::string_view kSlidesKey = "slides";
inline constexpr std::string_view kMotorsKey = "motors";
inline constexpr std::string_view kCommandUnitsKey = "command_units";
inline constexpr std::string_view kInertialKey = "inertial_sensors";
inline constexpr std::string_view kEpochKey = "epoch_unix_ns";
inline constexpr std::string_view kFormatKey = "format_version";
inline constexpr std::string_view kFormatVersion = "1";

}  // namespace proto
