#pragma once

/* CLEAR, host -> unit: ends a trip, in two steps, so that no single frame, even a corrupted one,
 * can arm the output.
 *
 *   step 1 (token 0)       the unit answers with a new token
 *   step 2 (that token)    within CLEAR_WINDOW_MS the unit clears its fault flags, unless a cause
 *                          is still present; the output stays zero until a COMMAND enables it
 *
 *   offset  size  field
 *        0     1  type   0x05
 *        1     1  step   1 or 2
 *        2     2  token
 *
 * CLEAR_REPLY, unit -> host.
 *
 *   offset  size  field
 *        0     1  type         0x06
 *        1     1  step         of the CLEAR answered
 *        2     1  result       CLEAR_*
 *        3     2  token        step 1: the new token; step 2: the token received
 *        5     1  fault_flags  after this step */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CLEAR_SIZE_BYTES = 4, CLEAR_REPLY_SIZE_BYTES = 6 };

enum {
  CLEAR_DONE = 0,          /* step 1: token issued; step 2: the trip has ended */
  CLEAR_WRONG_TOKEN = 1,   /* not the last token issued, or it has expired */
  CLEAR_CAUSE_PRESENT = 2, /* fault_flags has the remaining causes */
  CLEAR_WRONG_STEP = 3,
};

typedef struct {
  uint8_t step;
  uint16_t token;
} clear_request;

typedef struct {
  uint8_t step;
  uint8_t result;
  uint16_t token;
  uint8_t fault_flags;
} clear_reply;

/* Each encoder writes exactly its message's size. Each decoder returns false, leaving its result
 * unchanged, unless size and type byte are the expected ones. */
void clear_request_encode(const clear_request* request, uint8_t out[CLEAR_SIZE_BYTES]);
bool clear_request_decode(const uint8_t* in, size_t size_bytes, clear_request* request);
void clear_reply_encode(const clear_reply* reply, uint8_t out[CLEAR_REPLY_SIZE_BYTES]);
bool clear_reply_decode(const uint8_t* in, size_t size_bytes, clear_reply* reply);

#ifdef __cplusplus
}
#endif
