#pragma once

/* Limits shared by both ends. Normative text: firmware_iface/PROTOCOL.md. */

#include <stdint.h>

enum {
  PROTOCOL_VERSION = 2,
  ENCODERS_MAX = 16,               /* of one unit */
  MOTORS_MAX = 8,                  /* of one unit */
  INERTIAL_SENSORS_MAX = 4,        /* of one unit */
  INERTIAL_AXES = 6,               /* of each: rates about x, y, z, then forces along them */
  MESSAGE_SIZE_BYTES_MAX = 98,     /* type and body, without CRC; SAMPLE is the longest */
  HELLO_REPLY_SIZE_BYTES_MAX = 57, /* in every protocol version */
  CRC_SIZE_BYTES_MAX = 4,
  FRAME_SIZE_BYTES_MAX = 104,     /* longest message, its CRC, one stuffing byte, the delimiter */
  FRAME_OVERHEAD_BYTES = 2,       /* stuffing byte and delimiter */
  BITS_PER_BYTE_ON_THE_LINE = 10, /* 8N1: start bit, eight data bits, stop bit */
  CLEAR_WINDOW_MS = 500,          /* longest time from the first step of CLEAR to the second */
  COMMAND_AGE_TICKS_DEFAULT = 10  /* age of the sample that a command may answer, from the newest */
};

/* CRC-32C of the `layout` block of PROTOCOL.md. It is the seed of all CRCs except those of HELLO
 * and HELLO_REPLY, so that ends built from different layouts never accept each other's frames. */
static const uint32_t LAYOUT_HASH = 0xE5F6152CU;

/* Seed of the CRC of HELLO and HELLO_REPLY. It never changes, so that ends of different versions
 * can report their versions to each other. */
static const uint32_t HELLO_CRC_SEED = 0U;
