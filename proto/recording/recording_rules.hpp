#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/check/number_ranges.hpp"
#include "proto/recording/recording_types.hpp"

namespace proto {

/// Rules for the content of a recording, shared by writer, service and reader: each accepts only
/// such messages, so the others can store and read them.

/// Sample numbers, command times and the unit's clock are limited to values at which a double
/// distinguishes neighbours: 285 000 years at 1 kHz.
inline constexpr std::uint64_t kSequenceMax = std::uint64_t{1} << 53;
inline constexpr std::int64_t kDeviceTimeMax_us = std::int64_t{1} << 53;

/// Times lie within thirty years of a recording's start, and the start lies between the years 1716
/// and 2223, so that their sum in nanoseconds fits an int64.
inline constexpr double kTimeMax_s = 1e9;
inline constexpr std::int64_t kEpochMax_unix_ns = 8'000'000'000'000'000'000;

/// Reason why something cannot be in a recording, as a clause; nothing if it can.
using RuleViolation = std::optional<std::string>;

/// Parses the names in a header's list "arm,pendulum", by channel. Empty unless they are 1 to
/// kChannelCountMax different names.
std::vector<std::string> parse_joints(const std::string& names);

/// Parses the names of inertial sensors: at most kInertialCountMax different names; nothing for any
/// other list.
std::optional<std::vector<std::string>> parse_inertial_sensors(const std::string& names);

/// Parses the names of sliding joints: different names of `joints`; nothing for other lists.
std::optional<std::vector<std::string>> parse_slides(const std::string& names,
                                                     const std::vector<std::string>& joints);

/// Parses the names of driven joints: at most kMotorCountMax different ones; else nothing.
std::optional<std::vector<std::string>> parse_motors(const std::string& names);

/// Parses the units in a header's list "V,duty", one for each motor; none if the list is empty.
/// Units may be equal or empty; nothing for any other list.
std::optional<std::vector<std::string>> parse_command_units(const std::string& units,
                                                            std::size_t motors);

/// Returns "arm,pendulum", the inverse of the functions above.
std::string join_names(const std::vector<std::string>& names);

/// Returns a header's names as entries of metadata, without empty lists.
std::map<std::string, std::string> metadata_of_names(const RecordingHeader& header);

/// Returns a header with the names in entries of metadata; nothing if they are not valid.
/// @param entry  entry of that key, empty if there is none
std::optional<RecordingHeader> header_from_metadata(
    const std::function<std::string(std::string_view key)>& entry);

/// Returns the unit of a channel: "rad", or "m" of a sliding joint.
const char* unit_of(const RecordingHeader& header, std::size_t channel);

/// Returns the unit of a motor's command; empty if unknown.
std::string command_unit_of(const RecordingHeader& header, std::size_t motor);

RuleViolation find_violation(const RecordingHeader& header);
RuleViolation find_epoch_violation(std::int64_t epoch_unix_ns);

/// Numbers of channels, motors and sensors in a recording.
struct RecordingShape {
  std::size_t joints = 0;
  std::size_t inertial_sensors = 0;
  std::size_t motors = 0;

  /// Number of commands in each sample; 1 even if no motor is named.
  std::size_t commands() const { return motors == 0 ? 1 : motors; }
};

RecordingShape shape_of(const RecordingHeader& header);

/// Checks the messages of one recording, in their order.
class RecordingRules {
 public:
  explicit RecordingRules(const RecordingShape& shape) : shape_(shape) {}
  explicit RecordingRules(std::size_t joints) : shape_{.joints = joints} {}

  /// Returns the violation of a sample. Without one, the next sample must follow it.
  RuleViolation take(const Sample& sample);
  /// Returns the violation of a reading. It must follow the last one of its sensor.
  RuleViolation take(const InertialReading& reading);
  RuleViolation take(const Command& command) const;
  RuleViolation take(const Gap& gap) const;
  RuleViolation take(const Event& event) const;
  RuleViolation take(const ClockFit& fit) const;
  RuleViolation take(const LoopStats& stats) const;

 private:
  RuleViolation breach_of_order(const Sample& sample) const;
  RuleViolation breach_of_commands(const std::string& what, std::size_t count,
                                   const MotorCommands& commands, const NumberRange& range) const;

  RecordingShape shape_;
  std::array<std::optional<std::uint64_t>, kInertialCountMax>
      last_readings_{};    // samples of the last readings
  bool has_last_ = false;  // if so, the following describe the last accepted sample
  std::uint64_t last_sequence_ = 0;
  double last_timestamp_s_ = 0.0;
};

}  // namespace proto
