#pragma once

/* Limits both ends share. Normative text: firmware_iface/PROTOCOL.md. */

#include <stdint.h>

enum {
  PROTOCOL_VERSION = 1,
  CHANNELS_MAX = 4,            /* encoders of one unit */
  INERTIAL_SENSORS_MAX = 4,    /* inertial sensors of one unit */
  INERTIAL_AXES = 6,           /* of each: rates about x, y, z, then forces along them */
  MESSAGE_SIZE_BYTES_MAX = 57, /* type and body, without CRC: the longest is HELLO_REPLY */
  CRC_SIZE_BYTES_MAX = 4,
  FRAME_SIZE_BYTES_MAX = 63,      /* longest message, its CRC, one stuffing byte, the delimiter */
  FRAME_OVERHEAD_BYTES = 2,       /* stuffing byte and delimiter */
  BITS_PER_BYTE_ON_THE_LINE = 10, /* 8N1: start bit, eight data bits, stop bit */
  CLEAR_WINDOW_MS = 500 /* the second step of CLEAR is accepted this long after the first */
};

/* CRC-32C of the `layout` block of PROTOCOL.md. Every CRC but those of HELLO and HELLO_REPLY is
 * seeded with it, so that two ends built from different layouts never accept each other's frames.
 */
static const uint32_t LAYOUT_HASH = 0x0AE3AF30U;

/* Seed of the CRC of HELLO and HELLO_REPLY. It never changes, so that ends of different versions
 * can still tell each other so. */
static const uint32_t HELLO_CRC_SEED = 0U;
