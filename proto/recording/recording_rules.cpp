#include "proto/recording/recording_rules.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "proto/notation/number_format.hpp"
#include "proto/recording/topics.hpp"

namespace proto {
namespace {

// Formats a number with enough digits to distinguish neighbouring samples.
std::string text_of(double number) {
  return std::isnan(number) ? "nan" : notation::format_number(number, 9);
}

// Written such that a NaN fails.
RuleViolation breach_of_time(const std::string& what, double timestamp_s) {
  if (std::abs(timestamp_s) <= kTimeMax_s) return std::nullopt;
  return what + " has the time " + text_of(timestamp_s) + " s; times must lie within " +
         text_of(kTimeMax_s) + " s of the recording's start";
}

// Looked up once, because numbers are checked a thousand times a second.
const NumberRange& kAngleRange = require_range("Sample.angle_rad");
const NumberRange& kOutputRange = require_range("Sample.command");
const NumberRange& kCommandRange = require_range("Command.command");
const NumberRange& kReadingRange = require_range("Vector3.x");
const NumberRange& kRateRange = require_range("ClockFit.rate_error_ppm");

RuleViolation breach_of_number(const std::string& what, const char* quantity, double number,
                               const NumberRange& range) {
  if (std::isfinite(number) && range.holds(number)) return std::nullopt;
  return what + " has the " + quantity + " " + text_of(number) +
         (std::isfinite(number) ? "; it must be " + range.text() : ", which is not finite");
}

std::vector<std::string> split_names(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    names.push_back(list.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return names;
}

// Parses a list of at most `count_max` different names; returns nothing for any other list.
std::optional<std::vector<std::string>> parse_names(const std::string& list,
                                                    std::size_t count_max) {
  if (list.empty()) return std::vector<std::string>();
  std::vector<std::string> names = split_names(list);
  return are_valid_names(names, count_max) ? std::optional(std::move(names)) : std::nullopt;
}

bool are_among(const std::vector<std::string>& names, const std::vector<std::string>& all) {
  return std::ranges::all_of(
      names, [&](const std::string& name) { return std::ranges::count(all, name) > 0; });
}

// Older recordings, which could have only one motor, named it and its unit like this.
constexpr std::string_view kOneMotorKey = "motor";
constexpr std::string_view kOneUnitKey = "command_unit";

}  // namespace

bool are_valid_names(const std::vector<std::string>& names, std::size_t count_max) {
  const std::set<std::string> different(names.begin(), names.end());
  return names.size() <= count_max && different.size() == names.size() &&
         std::ranges::none_of(names, [](const std::string& name) {
           return name.empty() || name.find(',') != std::string::npos;
         });
}

std::string join_names(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t k = 0; k < names.size(); ++k) list += (k == 0 ? "" : ",") + names[k];
  return list;
}

std::map<std::string, std::string> make_name_metadata(const RecordingHeader& header) {
  std::map<std::string, std::string> entries;
  const auto add = [&](std::string_view key, const std::vector<std::string>& names) {
    if (!names.empty()) entries.emplace(key, join_names(names));
  };
  add(kJointsKey, header.joints);
  add(kSlidesKey, header.slides);
  add(kMotorsKey, header.motors);
  add(kCommandUnitsKey, header.command_units);
  add(kInertialKey, header.inertial_sensors);
  return entries;
}

std::optional<RecordingHeader> header_from_metadata(
    const std::function<std::string(std::string_view key)>& entry) {
  auto joints = parse_names(entry(kJointsKey), kChannelCountMax);
  auto slides = parse_names(entry(kSlidesKey), kChannelCountMax);
  auto sensors = parse_names(entry(kInertialKey), kInertialCountMax);
  const std::string motor_names = entry(kMotorsKey);
  const bool is_old = motor_names.empty();
  auto motors = parse_names(is_old ? entry(kOneMotorKey) : motor_names, kMotorCountMax);
  if (!joints || joints->empty() || !slides || !are_among(*slides, *joints) || !sensors ||
      !motors) {
    return std::nullopt;
  }
  RecordingHeader header{.joints = std::move(*joints),
                         .slides = std::move(*slides),
                         .motors = std::move(*motors),
                         .inertial_sensors = std::move(*sensors)};
  if (header.motors.empty()) return header;
  // Units may be equal or empty.
  const std::string units = entry(is_old ? kOneUnitKey : kCommandUnitsKey);
  if (!units.empty()) header.command_units = split_names(units);
  if (!units.empty() && header.command_units.size() != header.motors.size()) return std::nullopt;
  return header;
}

const char* channel_unit(const RecordingHeader& header, std::size_t channel) {
  const bool slides =
      std::ranges::find(header.slides, header.joints[channel]) != header.slides.end();
  return slides ? "m" : "rad";
}

std::string command_unit(const RecordingHeader& header, std::size_t motor) {
  return motor < header.command_units.size() ? header.command_units[motor] : std::string();
}

RecordingShape recording_shape(const RecordingHeader& header) {
  return {header.joints.size(), header.inertial_sensors.size(), header.motors.size()};
}

RuleViolation find_epoch_violation(std::int64_t epoch_unix_ns) {
  if (epoch_unix_ns >= -kEpochMax_unix_ns && epoch_unix_ns <= kEpochMax_unix_ns) {
    return std::nullopt;
  }
  return "epoch_unix_ns is " + std::to_string(epoch_unix_ns) + "; a recording must start within " +
         std::to_string(kEpochMax_unix_ns) + " ns of 1970";
}

RuleViolation find_violation(const RecordingHeader& header) {
  const std::string names = join_names(header.joints);
  if (header.joints.empty() || !are_valid_names(header.joints, kChannelCountMax)) {
    return "the joint names \"" + names + "\" must be 1 to " + std::to_string(kChannelCountMax) +
           " different names without commas";
  }
  if (!are_valid_names(header.slides, kChannelCountMax) ||
      !are_among(header.slides, header.joints)) {
    return "the sliding joints \"" + join_names(header.slides) +
           "\" must be different ones of the joints \"" + names + "\"";
  }
  if (!are_valid_names(header.motors, kMotorCountMax)) {
    return "the motor names \"" + join_names(header.motors) + "\" must be at most " +
           std::to_string(kMotorCountMax) + " different names without commas";
  }
  const auto has_comma = [](const std::string& unit) { return unit.find(',') != unit.npos; };
  if (!header.command_units.empty() && (header.command_units.size() != header.motors.size() ||
                                        std::ranges::any_of(header.command_units, has_comma))) {
    return "the command units \"" + join_names(header.command_units) +
           "\" must be one per motor, without commas";
  }
  if (!are_valid_names(header.inertial_sensors, kInertialCountMax)) {
    return "the inertial sensor names \"" + join_names(header.inertial_sensors) +
           "\" must be at most " + std::to_string(kInertialCountMax) +
           " different names without commas";
  }
  return find_epoch_violation(header.epoch_unix_ns);
}

RuleViolation RecordingRules::check_sample_order(const Sample& sample) const {
  const std::string what = "sample " + std::to_string(sample.sequence);
  if (sample.channel_count != shape_.joints) {
    return what + " has " + std::to_string(sample.channel_count) +
           " channels, but the recording has " + std::to_string(shape_.joints) + " joints";
  }
  if (sample.sequence >= kSequenceMax) {
    return what + ": sample numbers must be below " + std::to_string(kSequenceMax);
  }
  if (has_last_ && sample.sequence <= last_sequence_) {
    return what + " follows sample " + std::to_string(last_sequence_) + "; sequences must increase";
  }
  if (has_last_ && sample.timestamp_s < last_timestamp_s_) {
    return what + " has the time " + text_of(sample.timestamp_s) + " s, but sample " +
           std::to_string(last_sequence_) + " before it " + text_of(last_timestamp_s_) +
           " s; times must not decrease";
  }
  return std::nullopt;
}

RuleViolation RecordingRules::check_command_numbers(const std::string& what, std::size_t count,
                                                    const MotorCommands& commands,
                                                    const NumberRange& range) const {
  if (count != shape_.commands()) {
    return what + " has " + std::to_string(count) + " commands, but the recording has " +
           std::to_string(shape_.motors) + " motors";
  }
  for (std::size_t k = 0; k < count; ++k) {
    if (auto breach = breach_of_number(what, "command", commands[k], range)) return breach;
  }
  return std::nullopt;
}

RuleViolation RecordingRules::take(const Sample& sample) {
  const std::string what = "sample " + std::to_string(sample.sequence);
  if (auto breach = breach_of_time(what, sample.timestamp_s)) return breach;
  if (auto breach = check_command_numbers(what, sample.motor_count, sample.command, kOutputRange))
    return breach;
  if (sample.device_time_us > kDeviceTimeMax_us || sample.device_time_us < -kDeviceTimeMax_us) {
    return what + " has the unit's time " + std::to_string(sample.device_time_us) +
           " us, beyond the range of a unit's clock";
  }
  if (auto breach = check_sample_order(sample)) return breach;
  for (std::size_t c = 0; c < sample.channel_count; ++c) {
    if (!sample.valid[c]) continue;
    if (auto breach = breach_of_number(what, "angle", sample.angle_rad[c], kAngleRange))
      return breach;
  }
  has_last_ = true;
  last_sequence_ = sample.sequence;
  last_timestamp_s_ = sample.timestamp_s;
  return std::nullopt;
}

RuleViolation RecordingRules::take(const InertialReading& reading) {
  const std::string what = "the inertial reading of sample " + std::to_string(reading.sequence);
  if (auto breach = breach_of_time(what, reading.timestamp_s)) return breach;
  if (reading.sensor >= shape_.inertial_sensors) {
    return what + " is of sensor " + std::to_string(reading.sensor) +
           ", but the number of sensors is " + std::to_string(shape_.inertial_sensors);
  }
  if (reading.sequence >= kSequenceMax) {
    return what + ": sample numbers must be below " + std::to_string(kSequenceMax);
  }
  std::optional<std::uint64_t>& last = last_readings_[reading.sensor];
  if (last && reading.sequence <= *last) {
    return what + " follows the one of sample " + std::to_string(*last) +
           "; sequences must increase";
  }
  for (const double value : reading.value) {
    if (std::isnan(value)) continue;  // not read
    if (auto breach = breach_of_number(what, "value", value, kReadingRange)) return breach;
  }
  last = reading.sequence;
  return std::nullopt;
}

RuleViolation RecordingRules::take(const Command& command) const {
  const std::string what = "command " + std::to_string(command.command_sequence);
  if (auto breach = breach_of_time(what, command.timestamp_s)) return breach;
  return check_command_numbers(what, command.motor_count, command.command, kCommandRange);
}

RuleViolation RecordingRules::take(const Gap& gap) const {
  const std::string what = fmt::format("the gap from sample {}", gap.first_sequence);
  if (auto breach = breach_of_time(what, gap.timestamp_s)) return breach;
  if (gap.first_sequence <= kSequenceMax && gap.sample_count <= kSequenceMax - gap.first_sequence) {
    return std::nullopt;
  }
  return fmt::format("{} has {} samples and ends above the largest sample number {}", what,
                     gap.sample_count, kSequenceMax);
}

RuleViolation RecordingRules::take(const Event& event) const {
  return breach_of_time("the event \"" + event.name.substr(0, 64) + "\"", event.timestamp_s);
}

RuleViolation RecordingRules::take(const ClockFit& fit) const {
  if (auto breach = breach_of_time("a clock fit", fit.timestamp_s)) return breach;
  return breach_of_number("a clock fit", "rate", fit.rate_error_ppm, kRateRange);
}

RuleViolation RecordingRules::take(const LoopStats& stats) const {
  return breach_of_time("the loop's statistics", stats.timestamp_s);
}

}  // namespace proto
