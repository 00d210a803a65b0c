#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace proto {

/// Structs for the content of a recording. The fields are documented in proto/sample.proto. Times
/// are seconds since the start of the recording.

/// Largest number of encoder channels of one unit.
inline constexpr std::size_t kChannelCountMax = 16;

/// Largest number of motors of one unit.
inline constexpr std::size_t kMotorCountMax = 8;

/// Commands of all motors, each in the motor's own unit.
using MotorCommands = std::array<double, kMotorCountMax>;

/// One sample of the conversion unit. The struct has a fixed size, so that a real-time thread can
/// create and queue samples.
struct Sample {
  double timestamp_s = 0.0;
  std::uint64_t sequence = 0;       ///< increases by 1, or by more if samples are missing
  std::int64_t device_time_us = 0;  ///< unit clock at the latch, unwrapped
  std::uint32_t channel_count = 0;  ///< entries in use below, ≤ kChannelCountMax
  std::array<double, kChannelCountMax> angle_rad{};  ///< NaN where not valid
  std::array<std::int64_t, kChannelCountMax> encoder_counts{};
  std::array<bool, kChannelCountMax> valid{};
  std::uint32_t motor_count = 1;       ///< entries in use below; also 1 for a rig without a motor
  MotorCommands command{};             ///< output from this latch until the next latch
  std::uint64_t command_sequence = 0;  ///< number of the command in effect; 0: none yet
  bool tripped = false;           ///< the unit holds its output at zero until the trip is cleared
  bool driving = false;           ///< the unit obeys a command
  std::uint32_t fault_flags = 0;  ///< latched causes of the trip, firmware_iface/wire/fault.h
  std::uint64_t error_count = 0;  ///< frames that the unit has rejected
};

/// Largest number of inertial sensors of one unit, and number of axes of each sensor: rates about
/// x, y, z, then specific forces.
inline constexpr std::size_t kInertialCountMax = 4;
inline constexpr std::size_t kInertialAxes = 6;

/// Readings of an inertial sensor at a sample's latch.
struct InertialReading {
  double timestamp_s = 0.0;
  std::uint64_t sequence = 0;                 ///< number of the sample
  std::uint32_t sensor = 0;                   ///< index into RecordingHeader::inertial_sensors
  std::array<double, kInertialAxes> value{};  ///< [rad/s] and [m/s²]; NaN where not read
  std::array<std::int32_t, kInertialAxes> counts{};
  std::uint32_t saturated = 0;  ///< bit i: counts[i] is at the end of its range
};

struct Command {
  double timestamp_s = 0.0;
  std::uint64_t command_sequence = 0;
  std::uint32_t motor_count = 1;      ///< entries in use below, as in Sample
  MotorCommands command{};            ///< after all limits
  MotorCommands command_requested{};  ///< commands that the scenario requested
  std::uint32_t flags = 0;
};

enum class GapCause {
  kUnspecified,
  kLink,
  kRingFull,
  kUnitReset,
  kStorage,
  kSpoolFull,
  kNotListed
};
inline constexpr int kGapCauseCount = 7;

/// Samples that the conversion unit took, but that are missing in the recording.
struct Gap {
  double timestamp_s = 0.0;
  std::uint64_t first_sequence = 0;
  std::uint64_t sample_count = 0;
  GapCause cause = GapCause::kUnspecified;
};

enum class LinkDirection { kUnspecified, kFromUnit, kToUnit };

struct LinkFrame {
  double timestamp_s = 0.0;
  LinkDirection direction = LinkDirection::kUnspecified;
  std::vector<std::uint8_t> frame{};
};

enum class EventKind {
  kUnspecified,
  kTrip,
  kTripCleared,
  kScenario,
  kOperator,
  kLink,
  kStorage,
};

struct Event {
  double timestamp_s = 0.0;
  EventKind kind = EventKind::kUnspecified;
  std::string name{};     ///< name of the limit or phase, e.g. "speed_limit"
  std::string text{};     ///< one sentence for users, with numbers
  std::string channel{};  ///< joint concerned; empty: none
  double value = 0.0;     ///< measured value, in `unit`
  double limit = 0.0;     ///< limit of the value, in `unit`
  std::string unit{};
  std::uint64_t sequence = 0;
  std::vector<LinkFrame> last_frames{};  ///< black box, oldest first
};

struct ClockFit {
  double timestamp_s = 0.0;
  double rate_error_ppm = 0.0;
  double rate_error_ppm_sd = 0.0;
  double offset_s = 0.0;
  double residual_s_rms = 0.0;
  std::uint64_t point_count = 0;
  std::uint64_t rejected_count = 0;
};

struct LoopStats {
  double timestamp_s = 0.0;
  std::uint64_t cycle_count = 0;
  std::uint64_t skipped_periods = 0;
  std::uint64_t dropped_samples = 0;
  std::uint64_t link_timeouts = 0;
  std::uint64_t damaged_frames = 0;
  double wakeup_us_mean = 0.0;
  double wakeup_us_p99 = 0.0;
  double wakeup_us_max = 0.0;
  double cycle_us_mean = 0.0;
  double cycle_us_max = 0.0;
};

/// A message of a recording.
using RecordingMessage =
    std::variant<Sample, InertialReading, Command, Gap, Event, ClockFit, LoopStats>;

/// Metadata of a recording, known when it starts.
struct RecordingHeader {
  std::vector<std::string> joints{};  ///< one per channel, at most kChannelCountMax, without commas
  std::vector<std::string> slides{};  ///< sliding joints among `joints`, with readings in metres
  /// Driven joints, by motor: at most kMotorCountMax names without commas. Empty: no motor, or a
  /// motor whose joint is unknown.
  std::vector<std::string> motors{};
  std::vector<std::string> command_units{};  ///< one per motor, such as "V"; empty: unknown
  /// Inertial sensors: at most kInertialCountMax names without commas.
  std::vector<std::string> inertial_sensors{};
  std::int64_t epoch_unix_ns = 0;  ///< host time of timestamp zero
  /// Other entries of the header, by name: rig, scenario, seed, firmware, configuration_hash,
  /// version, ...
  std::map<std::string, std::string> facts{};
};

/// A named file inside a recording, such as the excitation plan.
struct Attachment {
  std::string name{};
  std::string media_type{};
  std::vector<std::uint8_t> data{};
};

}  // namespace proto
