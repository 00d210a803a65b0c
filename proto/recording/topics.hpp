#pragma once

#include <array>
#include <string_view>

namespace proto {

/// The topics of a recording, each with the message of proto/sample.proto it carries.
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
/// Of inertial sensors there is one topic each: this and the sensor's name.
inline constexpr Topic kInertialTopics = {"/rig/inertial/", "rigcal.v1.InertialReading"};
/// Of estimated states there is one topic each, in a file of their own: this and the joint's name.
inline constexpr Topic kJointTopics = {"/rig/joint/", "rigcal.v1.JointEstimate"};

/// Name of the metadata record that holds the RecordingHeader, and its keys beside the facts. The
/// channel of the samples carries the same entries as its metadata.
inline constexpr std::string_view kHeaderMetadata = "rigcal";
inline constexpr std::string_view kHingesKey = "hinges";
inline constexpr std::string_view kSlidesKey = "slides";
inline constexpr std::string_view kMotorsKey = "motors";
inline constexpr std::string_view kCommandUnitsKey = "command_units";
inline constexpr std::string_view kInertialKey = "inertial_sensors";
inline constexpr std::string_view kEpochKey = "epoch_unix_ns";
inline constexpr std::string_view kFormatKey = "format_version";
inline constexpr std::string_view kFormatVersion = "1";

}  // namespace proto
