#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/check/number_check.hpp"
#include "proto/recording/recording_types.hpp"

namespace proto {

/// Rules for the content of a recording. Writer, service and reader accept only messages that
/// satisfy these rules, so that each of the three can process the messages of the other two.

/// Upper limits of sample numbers and of times of the unit's clock [µs]. Below these limits, a
/// double represents every integer exactly. At 1 kHz, sample numbers suffice for 285 000 years.
inline constexpr std::uint64_t kSequenceMax = std::uint64_t{1} << 53;
inline constexpr std::int64_t kDeviceTimeMax_us = std::int64_t{1} << 53;

/// Largest distance of a time from the start of its recording [s], about thirty years, and of this
/// start from 1970 [ns], from 1716 to 2223. Their sum in nanoseconds fits an int64.
inline constexpr double kTimeMax_s = 1e9;
inline constexpr std::int64_t kEpochMax_unix_ns = 8'000'000'000'000'000'000;

/// Reason why a recording cannot contain a certain message or header, as a clause of a sentence;
/// nullopt if the recording can contain it.
using RuleViolation = std::optional<std::string>;

/// Returns whether a recording can contain these names of joints, motors or sensors: at most
/// `count_max` different names without commas.
bool are_valid_names(const std::vector<std::string>& names, std::size_t count_max);

/// Joins names into a list such as "arm,pendulum".
std::string join_names(const std::vector<std::string>& names);

/// Returns the lists of names in a recording's header as metadata entries; empty lists are omitted.
std::map<std::string, std::string> make_name_metadata(const RecordingHeader& header);

/// Returns a recording's header with the lists of names from metadata entries; nullopt if the
/// entries are not valid.
/// @param entry  returns the entry of a key, empty if there is none
std::optional<RecordingHeader> header_from_metadata(
    const std::function<std::string(std::string_view key)>& entry);

/// Returns the unit of a channel's readings: "rad", or "m" for a sliding joint.
const char* channel_unit(const RecordingHeader& header, std::size_t channel);

/// Returns the unit of a motor's command; empty if unknown.
std::string command_unit(const RecordingHeader& header, std::size_t motor);

RuleViolation find_violation(const RecordingHeader& header);
RuleViolation find_epoch_violation(std::int64_t epoch_unix_ns);

/// Number of channels, number of motors and number of sensors in a recording.
struct RecordingShape {
  std::size_t joints = 0;
  std::size_t inertial_sensors = 0;
  std::size_t motors = 0;

  /// Returns the number of commands in each sample; 1 even without named motors.
  std::size_t commands() const { return motors == 0 ? 1 : motors; }
};

RecordingShape recording_shape(const RecordingHeader& header);

/// Checks the messages of one recording against the rules, in the order of the messages.
class RecordingRules {
 public:
  explicit RecordingRules(const RecordingShape& shape) : shape_(shape) {}
  explicit RecordingRules(std::size_t joints) : shape_{.joints = joints} {}

  /// Returns the rule that a sample violates, if any. Each sample must be later than the last
  /// accepted sample.
  RuleViolation take(const Sample& sample);
  /// Returns the rule that a reading violates, if any. Each reading must be later than the last
  /// reading of the same sensor.
  RuleViolation take(const InertialReading& reading);
  RuleViolation take(const Command& command) const;
  RuleViolation take(const Gap& gap) const;
  RuleViolation take(const Event& event) const;
  RuleViolation take(const ClockFit& fit) const;
  RuleViolation take(const LoopStats& stats) const;

 private:
  RuleViolation check_sample_order(const Sample& sample) const;
  RuleViolation check_command_numbers(const std::string& what, std::size_t count,
                                      const MotorCommands& commands,
                                      const NumberRange& range) const;

  RecordingShape shape_;
  std::array<std::optional<std::uint64_t>, kInertialCountMax>
      last_readings_{};    // samples of the last readings
  bool has_last_ = false;  // if so, the following describe the last accepted sample
  std::uint64_t last_sequence_ = 0;
  double last_timestamp_s_ = 0.0;
};

}  // namespace proto
