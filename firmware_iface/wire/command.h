#pragma once

/* COMMAND, host -> unit, one every tick. Never acknowledged or repeated: the next one supersedes
 * it, and its sequence comes back in SAMPLE.
 *
 *   offset  size  field
 *        0     1  type         0x20
 *        1     2  sequence     counts commands, wraps
 *        3     2  command_q15  ±32767 = ± the unit's range; -32768 is read as -32767
 *        5     1  flags        COMMAND_*
 *        6     1  ttl_ms       1..ttl_max_ms of the unit: without another valid COMMAND within
 *                              this time the unit sets its output to zero and trips
 *
 * COMMAND_COMPACT: the same with the low 8 bits of the sequence.
 *
 *   offset  size  field
 *        0     1  type         0x21
 *        1     1  sequence     low 8 bits
 *        2     2  command_q15
 *        4     1  flags
 *        5     1  ttl_ms */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { COMMAND_SIZE_BYTES = 7, COMMAND_COMPACT_SIZE_BYTES = 6 };

enum {
  COMMAND_ENABLE = 0x01, /* drive; without it the output is zero and no ttl runs */
  COMMAND_TRIP = 0x02,   /* trip at once (FAULT_HOST) */
};

typedef struct {
  uint16_t sequence;
  int16_t command_q15;
  uint8_t flags;
  uint8_t ttl_ms;
} command_request;

/* Each encoder writes exactly its size; each decoder returns false, leaving its result alone,
 * unless the size is exactly that and the type byte the expected one. */
void command_request_encode(const command_request* request, uint8_t out[COMMAND_SIZE_BYTES]);
bool command_request_decode(const uint8_t* in, size_t size_bytes, command_request* request);
void command_compact_encode(const command_request* request,
                            uint8_t out[COMMAND_COMPACT_SIZE_BYTES]);
bool command_compact_decode(const uint8_t* in, size_t size_bytes, command_request* request);

#ifdef __cplusplus
}
#endif
