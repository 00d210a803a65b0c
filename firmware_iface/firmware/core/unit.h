#pragma once

/* The conversion unit of firmware_iface/PROTOCOL.md as a state machine: bytes, ticks and latches
 * in, bytes and motor outputs out. Used by the firmware's boards and by the simulated unit.
 * C11, freestanding: no heap, no recursion, no callbacks, every loop bounded.
 *
 * A board calls, at each tick of its timer:
 *   unit_receive       for every byte received since the last tick
 *   unit_tick          ends the time to live, activates the newest command
 *   ... and applies unit.output to its power stage, reads its encoders ...
 *   unit_send_sample   if unit_sample_is_due
 *   unit_transmit      and passes the bytes to its line
 * If these calls stop, the board must switch the power stage off by itself. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware_iface/wire/command.h"
#include "firmware_iface/wire/frame.h"
#include "firmware_iface/wire/limits.h"
#include "firmware_iface/wire/sample.h"
#include "firmware_iface/wire/session.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  UNIT_TRANSMIT_SIZE_BYTES = 512, /* several times the longest frames of a tick */
  UNIT_ANSWERABLE_SAMPLES = 256 /* power of two: number of last samples that a command may answer */
};

/* Description of the board. Constant while the unit runs. */
typedef struct {
  uint64_t unit_id;
  uint16_t tick_rate_Hz;
  uint8_t ttl_max_ms;
  uint8_t capabilities; /* UNIT_CAN_* */
  uint8_t encoder_count;
  uint8_t motor_count;
  uint8_t inertial_count;
  uint8_t inertial_ticks[INERTIAL_SENSORS_MAX];
  uint8_t command_bits; /* resolution of the converter over the motor's range; 0: all 16 bits */
  part_description encoder[ENCODERS_MAX];
  part_description motor[MOTORS_MAX];
} unit_description;

/* Counters that the board keeps over resets if it can. After a loss of power they are {0, 0,
 * UNIT_SAMPLES_UNKNOWN}. */
typedef struct {
  uint16_t boot_count;
  uint16_t stream_count;
  uint32_t samples_of_last_stream;
} unit_memory;

static const uint32_t UNIT_SAMPLES_UNKNOWN = 0xFFFFFFFFU;

/* Required state of the power stage. */
typedef struct {
  bool is_enabled;
  int16_t command_q15[MOTORS_MAX]; /* 0 unless enabled */
} unit_output;

/* Readings of all sensors at one instant. */
typedef struct {
  int32_t encoder_counts[ENCODERS_MAX];
  uint16_t encoders_valid;
  uint16_t index_passed; /* since the last latch */
  uint16_t home_closed;  /* since the last latch */
  uint8_t inertial_read; /* bit i: inertial sensor i was read */
  int16_t inertial[INERTIAL_SENSORS_MAX][INERTIAL_AXES];
} unit_latch;

typedef struct {
  uint32_t hellos;
  uint32_t streams;
  uint32_t samples;
  uint32_t commands;          /* received in good frames */
  uint32_t commands_rejected; /* STATUS_COMMAND_REJECTED */
  uint32_t clears;
  uint32_t frames_damaged;
  uint32_t frames_dropped; /* not sent, for lack of room */
  uint32_t trips[8];       /* by bit of fault_flags */
} unit_counters;

typedef struct {
  /* Read by the board: */
  unit_output output;
  unit_memory memory;
  unit_counters counters;
  uint8_t fault_flags; /* latched */

  /* Written by the board: persistent causes, such as FAULT_AMPLIFIER, which CLEAR cannot end. */
  uint8_t causes_present;

  /* Used by the core only: */
  unit_description description;
  frame_receiver receiver;
  uint32_t random_state;
  uint64_t next_tick_us;
  bool has_session;
  bool is_streaming;
  uint8_t stream_flags;
  uint8_t divider;
  uint8_t command_age_ticks;
  uint8_t inertial_divider[INERTIAL_SENSORS_MAX];
  uint8_t ticks_to_sample;
  bool sample_is_due;
  uint32_t stream_samples;   /* sent in this stream */
  uint32_t answerable_count; /* last samples of this stream whose latch is known */
  uint64_t latch_us[UNIT_ANSWERABLE_SAMPLES];
  bool is_configured;
  configure_reply configure_answer; /* to the last CONFIGURE carried out */
  bool has_pending;
  command_request pending; /* accepted, takes effect at the next tick */
  bool command_seen;
  bool command_rejected; /* since the last sample */
  uint16_t command_sequence;
  bool has_answered;
  uint32_t answered; /* newest sample that an accepted command has answered */
  bool ttl_runs;
  uint64_t ttl_end_us;
  uint8_t ttl_ms;
  uint16_t clear_token;
  uint16_t cleared_token;
  uint64_t clear_until_us;
  uint8_t transmit[UNIT_TRANSMIT_SIZE_BYTES];
  size_t transmit_begin;
  size_t transmit_size;
} unit;

/* Initializes a unit after a reset: tripped (FAULT_BOOT), output off. Counts the boot in its
 * memory. random_seed should differ from boot to boot. now_us is the time of the first tick. */
void unit_init(unit* self, const unit_description* description, const unit_memory* memory,
               uint32_t random_seed, uint64_t now_us);

/* Processes a byte received from the line at the unit's time now_us. */
void unit_receive(unit* self, uint8_t byte, uint64_t now_us);

/* Begins the tick at now_us. Ends the time to live, activates the newest command. */
void unit_tick(unit* self, uint64_t now_us);

/* Returns whether unit_send_sample is due. */
bool unit_sample_is_due(const unit* self);

/* Returns the inertial sensors whose readings go with the next sample, bit i for sensor i. */
uint8_t unit_inertial_due(const unit* self);

/* Sends the due sample, latched at now_us. Does nothing if none is due. */
void unit_send_sample(unit* self, const unit_latch* latch, uint64_t now_us);

/* Switches the output off, latches the cause (FAULT_*) and reports it. */
void unit_trip(unit* self, uint8_t cause, int32_t detail, uint64_t now_us);

/* Takes up to capacity_bytes of the bytes to send. Returns their number. */
size_t unit_transmit(unit* self, uint8_t* out, size_t capacity_bytes);

static inline bool unit_is_tripped(const unit* self) { return self->fault_flags != 0; }

#ifdef __cplusplus
}
#endif
