#pragma once

/* INERTIAL, unit -> host, right after the SAMPLE (or SAMPLE_COMPACT) of the same latch, if any
 * inertial sensor is due. Never repeated. It comes second so that it does not delay the sample.
 *
 *   offset  size  field
 *        0     1  type        0x12
 *        1     2  sequence    of the sample, the low 16 bits
 *        3     1  sensors     bit i: readings of inertial sensor i follow
 *        4    12  of each such sensor, the lowest first: counts of its rates about x, y, z and of
 *                 its specific forces along x, y, z, each i16
 *
 * The count of an axis that was not read is INERTIAL_NOT_READ. The count at the end of the
 * measuring range is at most ±INERTIAL_COUNTS_MAX; if it is less, the host knows it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware_iface/wire/limits.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  INERTIAL_HEAD_SIZE_BYTES = 4,
  INERTIAL_SENSOR_SIZE_BYTES = 12,
  INERTIAL_SIZE_BYTES_MIN = 16, /* one sensor */
  INERTIAL_SIZE_BYTES_MAX = 52  /* INERTIAL_SENSORS_MAX sensors */
};

enum { INERTIAL_COUNTS_MAX = 32767, INERTIAL_NOT_READ = -32768 };

typedef struct {
  uint16_t sequence;
  uint8_t sensors;                                     /* bit mask of the sensors in the message */
  int16_t counts[INERTIAL_SENSORS_MAX][INERTIAL_AXES]; /* INERTIAL_NOT_READ for other sensors */
} inertial_report;

/* Encodes an INERTIAL message and returns its size [byte]. */
size_t inertial_report_encode(const inertial_report* report, uint8_t out[INERTIAL_SIZE_BYTES_MAX]);

/* Decodes an INERTIAL message. Returns false, leaving *report unchanged, unless the type byte is
 * MESSAGE_INERTIAL and the size matches `sensors`, at least one. */
bool inertial_report_decode(const uint8_t* in, size_t size_bytes, inertial_report* report);

#ifdef __cplusplus
}
#endif
