#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "firmware_iface/transport/transport.hpp"
#include "firmware_iface/wire/describe.h"
#include "firmware_iface/wire/inertial.h"
#include "firmware_iface/wire/limits.h"

namespace firmware_iface {

/// One encoder of a unit.
struct EncoderFacts {
  bool is_absolute = false;           ///< reads its position within its modulus after power-on
  std::uint32_t counts_per_turn = 0;  ///< 0: unknown, or not rotary
  std::uint32_t modulus = 0;  ///< counts run from 0 to modulus − 1; 0: all 32 bits, signed
  bool has_index = false;
  bool has_home = false;
};

/// One motor of a unit.
struct MotorFacts {
  int kind = MOTOR_VOLT;     ///< MOTOR_* (wire/describe.h), the unit of its command
  double command_max = 0.0;  ///< commands reach from −this to +this, in that unit
};

/// Symbol of a motor's command: "V", "duty" or "A"; "?" for a kind that is unknown.
const char* motor_unit(int kind);

/// Description of a unit, by HELLO_REPLY and DESCRIBE_REPLY.
struct UnitFacts {
  int protocol_version = 0;
  std::uint64_t unit_id = 0;
  int boot_count = 0;
  double tick_rate_Hz = 0.0;  ///< by the unit's own clock
  int ttl_max_ms = 0;
  bool can_compact = false;
  bool can_be_host_paced = false;
  bool can_mark = false;         ///< index pulses and home switches
  std::uint8_t fault_flags = 0;  ///< FAULT_* (wire/fault.h) latched when asked
  std::uint32_t configuration_hash = 0;
  int encoder_count = 0;
  std::array<EncoderFacts, ENCODERS_MAX> encoder{};
  int motor_count = 0;
  std::array<MotorFacts, MOTORS_MAX> motor{};
  int inertial_count = 0;  ///< inertial sensors, each read every so many ticks
  std::array<int, INERTIAL_SENSORS_MAX> inertial_ticks{};
  int stream_count = 0;                       ///< streams the unit has started since power-up
  std::optional<std::uint32_t> samples_sent;  ///< by the unit in the last of them
};

/// What inertial sensors read at the latch of a sample, in counts; INERTIAL_NOT_READ of an axis
/// that was not read.
struct UnitInertial {
  std::uint64_t sequence = 0;  ///< of the sample
  std::int64_t unit_time_us = 0;
  std::uint8_t sensors = 0;  ///< bit i: sensor i is in it; 0: there is none
  std::array<std::array<std::int16_t, INERTIAL_AXES>, INERTIAL_SENSORS_MAX> counts{};

  bool has(int sensor) const noexcept { return ((sensors >> sensor) & 1) != 0; }
};

/// One sample, past the wraps of the wire.
struct UnitSample {
  std::uint64_t sequence = 0;     ///< of this stream, from 0
  std::uint64_t lost_before = 0;  ///< samples missing between the previous one and this
  std::int64_t unit_time_us = 0;  ///< unit clock when latched; its origin is the unit's
  Nanoseconds received{0};        ///< host clock when read
  int encoder_count = 0;
  std::array<std::int64_t, ENCODERS_MAX> encoder_counts{};  ///< last valid count of each encoder
  std::uint16_t encoders_valid = 0;                         ///< bit i: encoder i was read
  std::uint16_t index_passed = 0;  ///< bit i: its index pulse passed since the sample before
  std::uint16_t home_closed = 0;   ///< bit i: its home switch closed since the sample before
  int motor_count = 0;
  std::array<double, MOTORS_MAX> command{};  ///< in force from this tick on, in the motor's unit
  std::uint64_t command_sequence = 0;        ///< newest command the unit accepted; 0: none yet
  bool command_unknown = false;              ///< the unit echoes a command that it was never sent
  std::optional<int> command_delay_ticks;  ///< first echo of a command: ticks since the sample read
                                           ///< last before it was written
  bool tripped = false;
  bool driving = false;
  bool command_rejected = false;       ///< a command since the sample before came too late
  std::uint8_t fault_flags = 0;        ///< FAULT_* (wire/fault.h)
  std::uint64_t unit_error_count = 0;  ///< frames the unit rejected since connect()
  UnitInertial inertial;  ///< of the sample received before this one: it is sent behind it

  bool encoder_is_valid(int encoder) const noexcept {
    return ((encoders_valid >> encoder) & 1) != 0;
  }
};

/// A trip as the unit reported it when it happened.
struct UnitFault {
  std::uint8_t fault_flags = 0;
  std::uint8_t cause = 0;
  std::uint16_t sample_sequence = 0;
  std::uint32_t tick_us = 0;
  std::int32_t detail = 0;  ///< see wire/fault.h
  Nanoseconds received{0};
};

}  // namespace firmware_iface
