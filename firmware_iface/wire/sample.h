#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware_iface/wire/limits.h"

#ifdef __cplusplus
extern "C" {
#endif

/* SAMPLE, unit -> host, one every tick (or every divider ticks). Never repeated: a lost one is a
 * gap in the sequence.
 *
 *   offset  size  field
 *        0     1  type              0x10
 *        1     2  sequence          counts samples of this stream from 0, wraps
 *        3     4  tick_us           unit clock when the encoders were latched, wraps every 71.6 min
 *        7     2  command_sequence  of the newest COMMAND accepted, see STATUS_COMMAND_SEEN
 *        9     2  encoders_valid    bit i: encoder_counts[i] was read at this tick
 *       11     1  status            STATUS_*
 *       12     1  fault_flags       latched, see fault.h
 *       13     1  error_count       frames the unit has rejected, wraps
 *       14     2  command_q15[0]    output from this tick on, ±32767 = ± the motor's range;
 *                                   then [1].. up to the unit's number of motors
 *        .     4  encoder_counts[0] signed; then [1].. up to the unit's number of encoders
 *        .     2  index_passed      with STREAM_MARKS: bit i: index pulse of encoder i since the
 *                                   previous sample
 *        .     2  home_closed       with STREAM_MARKS: bit i: home switch of encoder i closed at
 *                                   some time since the previous sample */

enum {
  SAMPLE_HEAD_SIZE_BYTES = 14,
  SAMPLE_MOTOR_SIZE_BYTES = 2,
  SAMPLE_ENCODER_SIZE_BYTES = 4,
  SAMPLE_MARKS_SIZE_BYTES = 4,
  SAMPLE_SIZE_BYTES_MAX = 98 /* MOTORS_MAX motors, ENCODERS_MAX encoders and marks */
};

enum {
  STATUS_TRIPPED = 0x01,          /* output held at zero until CLEAR */
  STATUS_DRIVING = 0x02,          /* a command with COMMAND_ENABLE is in effect */
  STATUS_COMMAND_SEEN = 0x04,     /* command_sequence is that of a COMMAND of this stream */
  STATUS_COMMAND_REJECTED = 0x08, /* a COMMAND since the previous sample answered a sample that was
                                     too old, not sent yet, or older than the command's ttl */
};

/* Content of the samples of one stream, known to both ends from HELLO_REPLY and CONFIGURE. */
typedef struct {
  uint8_t encoder_count; /* at most ENCODERS_MAX */
  uint8_t motor_count;   /* at most MOTORS_MAX */
  bool has_marks;        /* STREAM_MARKS */
} sample_shape;

typedef struct {
  uint16_t sequence;
  uint32_t tick_us;
  uint16_t command_sequence;
  uint16_t encoders_valid;
  uint8_t status;
  uint8_t fault_flags;
  uint8_t error_count;
  int16_t command_q15[MOTORS_MAX];
  int32_t encoder_counts[ENCODERS_MAX];
  uint16_t index_passed;
  uint16_t home_closed;
} sample_report;

size_t sample_size_bytes(sample_shape shape);

/* Encodes a SAMPLE and returns its size, sample_size_bytes(shape). */
size_t sample_report_encode(const sample_report* report, sample_shape shape,
                            uint8_t out[SAMPLE_SIZE_BYTES_MAX]);

/* Decodes a SAMPLE. Returns false, leaving *report unchanged, unless the type byte is
 * MESSAGE_SAMPLE and the size is that of the shape. Entries beyond the shape are 0. */
bool sample_report_decode(const uint8_t* in, size_t size_bytes, sample_shape shape,
                          sample_report* report);

/* SAMPLE_COMPACT, unit -> host: a SAMPLE for lines of 230 400 baud, of units with one motor and at
 * most COMPACT_ENCODERS_MAX encoders. Same fields with fewer bits. The host reconstructs the
 * missing high bits, because sequence and clock advance together.
 *
 *   offset  size  field
 *        0     1  type              0x11
 *        1     1  sequence          low 8 bits
 *        2     3  tick_us           low 24 bits, wraps every 16.8 s
 *        5     1  command_sequence  low 8 bits
 *        6     1  encoders_valid in bits 0..3, status in bits 4..7
 *        7     1  fault_flags
 *        8     1  error_count
 *        9     2  command_q15
 *       11     3  encoder_counts[0] signed, low 24 bits; then [1].. up to the number of encoders */

enum {
  COMPACT_ENCODERS_MAX = 4,
  SAMPLE_COMPACT_HEAD_SIZE_BYTES = 11,
  SAMPLE_COMPACT_ENCODER_SIZE_BYTES = 3,
  SAMPLE_COMPACT_SIZE_BYTES_MAX = 23 /* COMPACT_ENCODERS_MAX encoders */
};

/* Returns whether samples of this shape have a compact form. */
bool sample_shape_is_compact(sample_shape shape);

/* Encodes the low bits of the report's fields. Returns the size written; 0 for a shape without a
 * compact form. */
size_t sample_compact_encode(const sample_report* report, sample_shape shape,
                             uint8_t out[SAMPLE_COMPACT_SIZE_BYTES_MAX]);

/* Decodes a SAMPLE_COMPACT. Returns false, leaving *report unchanged, unless the type byte is
 * MESSAGE_SAMPLE_COMPACT and the size is that of the shape. Missing high bits are 0; those of
 * the counts repeat the sign. */
bool sample_compact_decode(const uint8_t* in, size_t size_bytes, sample_shape shape,
                           sample_report* report);

#ifdef __cplusplus
}
#endif
