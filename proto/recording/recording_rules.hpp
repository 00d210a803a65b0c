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

/// What a recording may hold, stated once: the writer writes nothing else, the service acknowledges
/// nothing else, and a reader hands nothing else over. So what one of them lets in, the others can
/// store and read.

/// Numbers of samples, commands' times and the unit's clock stay where a double still tells
/// neighbours apart: 285 000 years at 1 kHz.
inline constexpr std::uint64_t kSequenceMax = std::uint64_t{1} << 53;
inline constexpr std::int64_t kDeviceTimeMax_us = std::int64_t{1} << 53;

/// Times lie within thirty years of a recording's start, and the start between the years 1716 and
/// 2223: their sum in nanoseconds is an int64.
inline constexpr double kTimeMax_s = 1e9;
inline constexpr std::int64_t kEpochMax_unix_ns = 8'000'000'000'000'000'000;

/// Why something cannot be in a recording, as a clause that names it; nothing if it can be.
using RuleBreach = std::optional<std::string>;

/// The names in a header's list "arm,pendulum", by channel. Empty if they cannot be a recording's:
/// 1 to kChannelCountMax different names.
std::vector<std::string> parse_hinges(const std::string& names);

/// Likewise of inertial sensors: none, or up to kInertialCountMax different names; nothing for any
/// other list.
std::optional<std::vector<std::string>> parse_inertial_sensors(const std::string& names);

/// Likewise of those among the hinges that slide: different names of `hinges`, or none; nothing for
/// any other list.
std::optional<std::vector<std::string>> parse_slides(const std::string& names,
                                                     const std::vector<std::string>& hinges);

/// Likewise of the joints that are driven: none, or up to kMotorCountMax different names; nothing
/// for any other list.
std::optional<std::vector<std::string>> parse_motors(const std::string& names);

/// The units in a header's list "V,duty", one for each motor; none where the list is empty. Units
/// may be equal or empty; nothing for any other list.
std::optional<std::vector<std::string>> parse_command_units(const std::string& units,
                                                            std::size_t motors);

/// "arm,pendulum", as the functions above read it.
std::string join_names(const std::vector<std::string>& names);

/// What a header names, as entries of metadata; a list without names is left out.
std::map<std::string, std::string> named_in(const RecordingHeader& header);

/// A header with what entries of metadata name; nothing where that cannot be a recording's.
/// @param entry  of that key, empty where there is none
std::optional<RecordingHeader> names_in(
    const std::function<std::string(std::string_view key)>& entry);

/// "rad" of a channel that turns, "m" of one that slides.
const char* unit_of(const RecordingHeader& header, std::size_t channel);

/// Unit of that motor's command; empty where it is unknown.
std::string command_unit_of(const RecordingHeader& header, std::size_t motor);

RuleBreach breach_of(const RecordingHeader& header);
RuleBreach breach_of_epoch(std::int64_t epoch_unix_ns);

/// How many a recording names.
struct RecordingShape {
  std::size_t hinges = 0;
  std::size_t inertial_sensors = 0;
  std::size_t motors = 0;

  /// Commands of each sample: one also where no motor is named.
  std::size_t commands() const { return motors == 0 ? 1 : motors; }
};

RecordingShape shape_of(const RecordingHeader& header);

/// Holds the messages of one recording to the rules, in their order.
class RecordingRules {
 public:
  explicit RecordingRules(const RecordingShape& shape) : shape_(shape) {}
  explicit RecordingRules(std::size_t hinges) : shape_{.hinges = hinges} {}

  /// A sample without a breach counts as taken: the next one must follow it.
  RuleBreach take(const Sample& sample);
  /// Likewise a reading, of the readings of its sensor.
  RuleBreach take(const InertialReading& reading);
  RuleBreach take(const Command& command) const;
  RuleBreach take(const Gap& gap) const;
  RuleBreach take(const Event& event) const;
  RuleBreach take(const ClockFit& fit) const;
  RuleBreach take(const LoopStats& stats) const;

 private:
  RuleBreach breach_of_order(const Sample& sample) const;
  RuleBreach breach_of_commands(const std::string& what, std::size_t count,
                                const MotorCommands& commands, const NumberRange& range) const;

  RecordingShape shape_;
  std::array<std::optional<std::uint64_t>, kInertialCountMax> last_readings_{};  // their samples
  bool has_last_ = false;  // and then, of the last sample taken:
  std::uint64_t last_sequence_ = 0;
  double last_timestamp_s_ = 0.0;
};

}  // namespace proto
