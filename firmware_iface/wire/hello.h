#pragma once

/* HELLO, host -> unit: starts a session. The unit stops its stream, sets its output to zero, trips
 * (FAULT_SESSION) if it was driving, and answers with HELLO_REPLY.
 *
 *   offset  size  field
 *        0     1  type              0x01
 *        1     1  protocol_version
 *        2     4  layout_hash
 *        6     2  nonce             any number; the reply repeats it
 *
 * HELLO_REPLY, unit -> host: description of the unit.
 *
 *   offset  size  field
 *        0     1  type              0x02
 *        1     1  protocol_version
 *        2     4  layout_hash
 *        6     2  nonce             of the HELLO answered
 *        8     8  unit_id           unique to the unit
 *       16     2  boot_count        counts resets, wraps
 *       18     2  tick_rate_Hz      of the unit's timer, by its own clock
 *       20     1  ttl_max_ms        longest time to live the unit accepts
 *       21     1  capabilities      UNIT_CAN_*
 *       22     1  fault_flags       latched, see fault.h
 *       23     4  configuration_hash  unit_configuration_hash
 *       27     2  stream_count      streams started since power-up, kept over resets, wraps
 *       29     4  samples_sent      in the last of them; 0xFFFFFFFF unknown
 *       33     1  encoder_count     1..ENCODERS_MAX
 *       34     1  motor_count       0..MOTORS_MAX
 *       35     1  inertial_count    0..INERTIAL_SENSORS_MAX
 *       36     1  inertial_ticks[0], then [1], [2], [3]: number of ticks from one reading of the
 *                 sensor to the next, 1..255; 0 for sensors that do not exist
 *
 * The first 8 bytes of both, called the head, and the seed of their CRC are the same in every
 * protocol version. In no version they are longer than HELLO_REPLY_SIZE_BYTES_MAX. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware_iface/wire/describe.h"
#include "firmware_iface/wire/limits.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HELLO_HEAD_SIZE_BYTES = 8, HELLO_SIZE_BYTES = 8, HELLO_REPLY_SIZE_BYTES = 40 };

enum {
  UNIT_CAN_COMPACT = 0x01,    /* compact SAMPLE and COMMAND */
  UNIT_CAN_HOST_PACED = 0x02, /* a SAMPLE in reply to each COMMAND */
  UNIT_CAN_MARKS = 0x04,      /* index pulses and home switches in SAMPLE */
};

typedef struct {
  uint8_t protocol_version;
  uint32_t layout_hash;
  uint16_t nonce;
} hello_head;

typedef struct {
  uint8_t protocol_version;
  uint32_t layout_hash;
  uint16_t nonce;
  uint64_t unit_id;
  uint16_t boot_count;
  uint16_t tick_rate_Hz;
  uint8_t ttl_max_ms;
  uint8_t capabilities;
  uint8_t fault_flags;
  uint32_t configuration_hash;
  uint16_t stream_count;
  uint32_t samples_sent;
  uint8_t encoder_count;
  uint8_t motor_count;
  uint8_t inertial_count;
  uint8_t inertial_ticks[INERTIAL_SENSORS_MAX];
} hello_reply;

/* HELLO of this version consists of the head only. */
void hello_encode(const hello_head* head, uint8_t out[HELLO_SIZE_BYTES]);

/* Reads the head of a HELLO or HELLO_REPLY of any version. Returns false, leaving *head unchanged,
 * for another type or fewer bytes. */
bool hello_head_decode(const uint8_t* in, size_t size_bytes, hello_head* head);

void hello_reply_encode(const hello_reply* reply, uint8_t out[HELLO_REPLY_SIZE_BYTES]);

/* Decodes a HELLO_REPLY. Returns false, leaving *reply unchanged, unless type, size and
 * protocol_version match this version. */
bool hello_reply_decode(const uint8_t* in, size_t size_bytes, hello_reply* reply);

/* Returns the CRC-32C of the encoded unit_id, tick_rate_Hz, ttl_max_ms, capabilities,
 * encoder_count, motor_count, inertial_count and inertial_ticks, then kind, flags, scale and
 * modulus of each encoder and of each motor. It differs between units and between set-ups of one
 * unit. */
uint32_t unit_configuration_hash(const hello_reply* reply,
                                 const part_description encoder[ENCODERS_MAX],
                                 const part_description motor[MOTORS_MAX]);

#ifdef __cplusplus
}
#endif
