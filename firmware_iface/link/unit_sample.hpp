#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "firmware_iface/transport/transport.hpp"
#include "firmware_iface/wire/inertial.h"
#include "firmware_iface/wire/limits.h"
#include "firmware_iface/wire/session.h"

namespace firmware_iface {

/// Description of one encoder of a unit.
struct EncoderDescription {
  bool is_absolute = false;  ///< reads its absolute position within its modulus after power-on
  std::uint32_t counts_per_turn = 0;  ///< 0: unknown, or not rotary
  std::uint32_t modulus = 0;          ///< counts run from 0 to modulus − 1; 0: signed, 32 bits
  bool has_index = false;
  bool has_home = false;
};

/// Description of one motor of a unit.
struct MotorDescription {
  int kind = MOTOR_VOLT;     ///< MOTOR_* (wire/session.h), the unit of its command
  double command_max = 0.0;  ///< range of commands to either side, in that unit
};

/// Returns the unit symbol of a motor's command: "V", "duty" or "A"; "?" for an unknown kind.
const char* motor_command_unit(int kind);

/// Description of a conversion unit, as reported in HELLO_REPLY and DESCRIBE_REPLY.
struct UnitDescription {
  int protocol_version = 0;
  std::uint64_t unit_id = 0;
  int boot_count = 0;
  double tick_rate_Hz = 0.0;  ///< by the unit's own clock
  int ttl_max_ms = 0;
  bool can_compact = false;
  bool can_be_host_paced = false;
  bool can_mark = false;         ///< can send index pulses and home switches
  std::uint8_t fault_flags = 0;  ///< FAULT_* (wire/fault.h), latched at the time of the reply
  std::uint32_t configuration_hash = 0;
  int encoder_count = 0;
  std::array<EncoderDescription, ENCODERS_MAX> encoder{};
  int motor_count = 0;
  std::array<MotorDescription, MOTORS_MAX> motor{};
  int inertial_count = 0;  ///< number of inertial sensors, each with its own reading interval
  std::array<int, INERTIAL_SENSORS_MAX> inertial_ticks{};
  int stream_count = 0;                       ///< streams started since power-on
  std::optional<std::uint32_t> samples_sent;  ///< samples sent in the last of these streams
};

/// Readings of the inertial sensors at the latch of a sample, in counts. The count of an axis that
/// was not read is INERTIAL_NOT_READ.
struct InertialReadings {
  std::uint64_t sequence = 0;  ///< of the sample
  std::int64_t unit_time_us = 0;
  std::uint8_t sensors = 0;  ///< bit i: sensor i was read; 0: no readings
  std::array<std::array<std::int16_t, INERTIAL_AXES>, INERTIAL_SENSORS_MAX> counts{};

  bool has(int sensor) const noexcept { return ((sensors >> sensor) & 1) != 0; }
};

/// One sample of a conversion unit, with unwrapped counters.
struct UnitSample {
  std::uint64_t sequence = 0;     ///< of this stream, from 0
  std::uint64_t lost_before = 0;  ///< samples missing between the previous one and this
  std::int64_t unit_time_us = 0;  ///< unit clock when latched; arbitrary origin
  Nanoseconds received{0};        ///< host clock when read
  int encoder_count = 0;
  std::array<std::int64_t, ENCODERS_MAX> encoder_counts{};  ///< last valid count of each encoder
  std::uint16_t encoders_valid = 0;                         ///< bit i: encoder i was read
  std::uint16_t index_passed = 0;  ///< bit i: its index pulse passed since the sample before
  std::uint16_t home_closed = 0;   ///< bit i: its home switch closed since the sample before
  int motor_count = 0;
  std::array<double, MOTORS_MAX> command{};  ///< in effect from this tick on, in the motor's unit
  std::uint64_t command_sequence = 0;        ///< newest command accepted by the unit; 0: none yet
  bool command_unknown = false;              ///< the unit echoes a command that was not sent to it
  std::optional<int> command_delay_ticks;  ///< first echo of a command: ticks since the sample read
                                           ///< last before it was written
  bool tripped = false;
  bool driving = false;
  bool command_rejected = false;       ///< a command since the last sample arrived too late
  std::uint8_t fault_flags = 0;        ///< FAULT_* (wire/fault.h)
  std::uint64_t unit_error_count = 0;  ///< frames the unit rejected since connect()
  InertialReadings
      inertial;  ///< of the previous sample, because readings are sent after their sample

  bool is_encoder_valid(int encoder) const noexcept {
    return ((encoders_valid >> encoder) & 1) != 0;
  }
};

/// A trip, as reported by the unit when it happened.
struct UnitFault {
  std::uint8_t fault_flags = 0;
  std::uint8_t cause = 0;
  std::uint16_t sample_sequence = 0;
  std::uint32_t tick_us = 0;
  std::int32_t detail = 0;  ///< see wire/fault.h
  Nanoseconds received{0};
};

}  // namespace firmware_iface
