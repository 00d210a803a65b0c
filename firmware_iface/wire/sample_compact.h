#pragma once

/* SAMPLE_COMPACT, unit -> host: a SAMPLE for lines of 230 400 baud. Same fields in fewer bits; the
 * host rebuilds the missing high bits from the fact that sequence and clock advance together.
 *
 *   offset  size  field
 *        0     1  type              0x11
 *        1     1  sequence          low 8 bits
 *        2     3  tick_us           low 24 bits, wraps every 16.8 s
 *        5     2  command_q15
 *        7     1  command_sequence  low 8 bits
 *        8     1  channels_valid in bits 0..3, status in bits 4..7
 *        9     1  fault_flags
 *       10     1  error_count
 *       11     3  encoder_counts[0] signed, low 24 bits; then [1].. up to the channel count */

#include "firmware_iface/wire/sample.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SAMPLE_COMPACT_HEAD_SIZE_BYTES = 11,
  SAMPLE_COMPACT_CHANNEL_SIZE_BYTES = 3,
  SAMPLE_COMPACT_SIZE_BYTES_MIN = 14, /* one channel */
  SAMPLE_COMPACT_SIZE_BYTES_MAX = 23  /* CHANNELS_MAX channels */
};

/* Sends the low bits of the report's fields. Returns the size written. */
size_t sample_compact_encode(const sample_report* report,
                             uint8_t out[SAMPLE_COMPACT_SIZE_BYTES_MAX]);

/* Returns false, leaving *report alone, unless the type byte is MESSAGE_SAMPLE_COMPACT and the size
 * is that of 1..CHANNELS_MAX channels. High bits that were not sent are 0, those of the counts
 * repeat the sign. */
bool sample_compact_decode(const uint8_t* in, size_t size_bytes, sample_report* report);

#ifdef __cplusplus
}
#endif
