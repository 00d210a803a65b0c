#pragma once

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

#include "firmware_iface/wire/sample.h"

#ifdef __cplusplus
extern "C" {
#endif

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
