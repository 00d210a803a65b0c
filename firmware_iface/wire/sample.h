#pragma once

/* SAMPLE, unit -> host, one every tick (or every divider ticks). Never repeated: a lost one is a
 * gap in the sequence.
 *
 *   offset  size  field
 *        0     1  type              0x10
 *        1     2  sequence          counts samples of this stream from 0, wraps
 *        3     4  tick_us           unit clock when the encoders were latched, wraps every 71.6 min
 *        7     2  command_q15       command in force from this tick on, ±32767 = ± the unit's range
 *        9     2  command_sequence  of the newest COMMAND accepted, see STATUS_COMMAND_SEEN
 *       11     1  channels_valid    bit i: encoder_counts[i] was read at this tick
 *       12     1  status            STATUS_*
 *       13     1  fault_flags       latched, see fault.h
 *       14     1  error_count       frames the unit has rejected, wraps
 *       15     4  encoder_counts[0] signed, wraps; then [1].. up to the unit's channel count */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware_iface/wire/limits.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SAMPLE_HEAD_SIZE_BYTES = 15,
  SAMPLE_CHANNEL_SIZE_BYTES = 4,
  SAMPLE_SIZE_BYTES_MIN = 19, /* one channel */
  SAMPLE_SIZE_BYTES_MAX = 31  /* CHANNELS_MAX channels */
};

enum {
  STATUS_TRIPPED = 0x01,      /* output held at zero until CLEAR */
  STATUS_DRIVING = 0x02,      /* a command with COMMAND_ENABLE is in force */
  STATUS_COMMAND_SEEN = 0x04, /* command_sequence is that of a COMMAND of this stream */
};

typedef struct {
  uint16_t sequence;
  uint32_t tick_us;
  int16_t command_q15;
  uint16_t command_sequence;
  uint8_t channels_valid;
  uint8_t status;
  uint8_t fault_flags;
  uint8_t error_count;
  uint8_t channel_count; /* 1..CHANNELS_MAX; not sent, it follows from the size */
  int32_t encoder_counts[CHANNELS_MAX];
} sample_report;

/* Returns the size written: SAMPLE_HEAD_SIZE_BYTES + channel_count * SAMPLE_CHANNEL_SIZE_BYTES. */
size_t sample_report_encode(const sample_report* report, uint8_t out[SAMPLE_SIZE_BYTES_MAX]);

/* Returns false, leaving *report alone, unless the type byte is MESSAGE_SAMPLE and the size is that
 * of 1..CHANNELS_MAX channels. Counts beyond channel_count are 0. */
bool sample_report_decode(const uint8_t* in, size_t size_bytes, sample_report* report);

#ifdef __cplusplus
}
#endif
