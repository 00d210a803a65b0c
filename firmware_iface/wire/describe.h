#pragma once

/* DESCRIBE, host -> unit: requests the description of one encoder or motor of the unit. The host
 * repeats it until it is answered.
 *
 *   offset  size  field
 *        0     1  type   0x08
 *        1     1  part   PART_*
 *        2     1  index  below encoder_count or motor_count of HELLO_REPLY
 *
 * DESCRIBE_REPLY, unit -> host.
 *
 *   offset  size  field
 *        0     1  type     0x09
 *        1     1  part     of the DESCRIBE answered
 *        2     1  index    of the DESCRIBE answered
 *        3     1  kind     ENCODER_* or MOTOR_*; PART_MISSING where the unit has no such part
 *        4     1  flags    ENCODER_HAS_*; 0 of a motor
 *        5     4  scale    of an encoder its counts per turn, 0: unknown, or not rotary; of a motor
 *                          its output at command_q15 = 32767, in thousandths of the kind's unit
 *        9     4  modulus  of an encoder: counts run from 0 to modulus - 1; 0: all 32 bits, signed;
 *                          of a motor 0 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware_iface/wire/limits.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { DESCRIBE_SIZE_BYTES = 3, DESCRIBE_REPLY_SIZE_BYTES = 13 };

enum { PART_ENCODER = 0, PART_MOTOR = 1 };

enum {
  ENCODER_COUNTER = 0,  /* counts from where it was switched on, and wraps at its modulus */
  ENCODER_ABSOLUTE = 1, /* reads its position within its modulus, also after power-on */
  MOTOR_VOLT = 0,
  MOTOR_DUTY = 1, /* share of the supply voltage, -1 to 1 */
  MOTOR_AMPERE = 2,
  PART_MISSING = 255
};

enum {
  ENCODER_HAS_INDEX = 0x01, /* SAMPLE has its index_passed */
  ENCODER_HAS_HOME = 0x02,  /* SAMPLE has its home_closed */
};

typedef struct {
  uint8_t part;
  uint8_t index;
} describe_request;

typedef struct {
  uint8_t kind;
  uint8_t flags;
  uint32_t scale;
  uint32_t modulus;
} part_description;

typedef struct {
  uint8_t part;
  uint8_t index;
  part_description description;
} describe_reply;

/* Each encoder writes exactly its message's size. Each decoder returns false, leaving its result
 * unchanged, unless size and type byte are the expected ones. */
void describe_request_encode(const describe_request* request, uint8_t out[DESCRIBE_SIZE_BYTES]);
bool describe_request_decode(const uint8_t* in, size_t size_bytes, describe_request* request);
void describe_reply_encode(const describe_reply* reply, uint8_t out[DESCRIBE_REPLY_SIZE_BYTES]);
bool describe_reply_decode(const uint8_t* in, size_t size_bytes, describe_reply* reply);

#ifdef __cplusplus
}
#endif
