#pragma once

/* COMMAND, host -> unit, one every tick. Never acknowledged or repeated: the next one replaces it,
 * and SAMPLE reports its sequence.
 *
 *   offset  size  field
 *        0     1  type         0x20
 *        1     2  sequence     counts commands, wraps
 *        3     4  answers      number of the sample that it answers, counted from 0 in this stream
 *        7     1  flags        COMMAND_*
 *        8     1  ttl_ms       1..ttl_max_ms of the unit, counted from the latch of the sample that
 *                              it answers: without another valid COMMAND by then the unit sets its
 *                              output to zero and trips
 *        9     2  command_q15[0]  ±32767 = ± the motor's range, -32768 is read as -32767; then
 *                              [1].. up to the unit's number of motors
 *
 * COMMAND_COMPACT, for units with one motor.
 *
 *   offset  size  field
 *        0     1  type         0x21
 *        1     1  sequence     low 8 bits
 *        2     3  answers      low 24 bits
 *        5     1  flags
 *        6     1  ttl_ms
 *        7     2  command_q15 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware_iface/wire/limits.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  COMMAND_HEAD_SIZE_BYTES = 9,
  COMMAND_MOTOR_SIZE_BYTES = 2,
  COMMAND_SIZE_BYTES_MAX = 25, /* MOTORS_MAX motors */
  COMMAND_COMPACT_SIZE_BYTES = 9
};

enum {
  COMMAND_ENABLE = 0x01, /* drive; without it the output is zero and no ttl applies */
  COMMAND_TRIP = 0x02,   /* trip immediately (FAULT_HOST) */
};

typedef struct {
  uint16_t sequence;
  uint32_t answers;
  uint8_t flags;
  uint8_t ttl_ms;
  int16_t command_q15[MOTORS_MAX];
} command_request;

/* The encoders return the size written. Each decoder returns false, leaving its result unchanged,
 * unless the type byte is the expected one and the size is that for motor_count motors. Entries
 * beyond motor_count are 0. motor_count is at most MOTORS_MAX. */
size_t command_request_encode(const command_request* request, uint8_t motor_count,
                              uint8_t out[COMMAND_SIZE_BYTES_MAX]);
bool command_request_decode(const uint8_t* in, size_t size_bytes, uint8_t motor_count,
                            command_request* request);
size_t command_compact_encode(const command_request* request,
                              uint8_t out[COMMAND_COMPACT_SIZE_BYTES]);
bool command_compact_decode(const uint8_t* in, size_t size_bytes, command_request* request);

#ifdef __cplusplus
}
#endif
