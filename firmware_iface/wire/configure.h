#pragma once

/* CONFIGURE, host -> unit: starts, changes or stops the stream of samples. The host repeats it
 * until it is acknowledged. The unit recognizes a repetition by its sequence, and only repeats its
 * answer.
 *
 *   offset  size  field
 *        0     1  type        0x03
 *        1     2  sequence
 *        3     1  flags       STREAM_*
 *        4     1  divider     a sample every divider ticks, 1..255
 *        5     1  command_age_ticks  a COMMAND may answer a sample that is at most this much older
 *                 than the newest one, 1..255
 *        6     1  inertial_divider[0], then [1], [2], [3]: readings of the inertial sensor with
 *                 sample 0 and every so many samples after it; 0: not read
 *
 * CONFIGURE_REPLY, unit -> host.
 *
 *   offset  size  field
 *        0     1  type           0x04
 *        1     2  sequence       of the CONFIGURE answered
 *        3     1  result         CONFIGURE_*; anything but CONFIGURE_DONE changed nothing
 *        4     1  flags          now in force
 *        5     1  divider        now in force
 *        6     4  samples_sent   in the stream that this CONFIGURE ended, 0 when there was none
 *       10     4  start_tick_us  unit clock of the tick that sends sample 0 of the new stream
 *       14     2  stream_count   streams started since power-up, this one included, wraps */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware_iface/wire/limits.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CONFIGURE_SIZE_BYTES = 10, CONFIGURE_REPLY_SIZE_BYTES = 16 };

enum {
  STREAM_ON = 0x01,
  STREAM_COMPACT = 0x02, /* compact SAMPLE and COMMAND */
  STREAM_HOST_PACED =
      0x04,            /* a SAMPLE in reply to each COMMAND, instead of one every divider ticks */
  STREAM_MARKS = 0x08, /* SAMPLE carries index_passed and home_closed */
};

enum {
  CONFIGURE_DONE = 0,
  /* an unknown or unsupported flag, divider 0 or command_age_ticks 0, an inertial sensor that does
   * not exist, or a divider that does not match its ticks */
  CONFIGURE_UNSUPPORTED = 1,
  CONFIGURE_NO_SESSION = 2, /* no HELLO since the unit was reset */
};

typedef struct {
  uint16_t sequence;
  uint8_t flags;
  uint8_t divider;
  uint8_t command_age_ticks;
  uint8_t inertial_divider[INERTIAL_SENSORS_MAX];
} configure_request;

typedef struct {
  uint16_t sequence;
  uint8_t result;
  uint8_t flags;
  uint8_t divider;
  uint32_t samples_sent;
  uint32_t start_tick_us;
  uint16_t stream_count;
} configure_reply;

/* Each encoder writes exactly its message's size. Each decoder returns false, leaving its result
 * unchanged, unless size and type byte are the expected ones. */
void configure_request_encode(const configure_request* request, uint8_t out[CONFIGURE_SIZE_BYTES]);
bool configure_request_decode(const uint8_t* in, size_t size_bytes, configure_request* request);
void configure_reply_encode(const configure_reply* reply, uint8_t out[CONFIGURE_REPLY_SIZE_BYTES]);
bool configure_reply_decode(const uint8_t* in, size_t size_bytes, configure_reply* reply);

#ifdef __cplusplus
}
#endif
