#pragma once

/* A frame on the line: COBS(message, CRC little-endian), then one zero byte.
 *
 * The CRC is CRC-32C seeded with LAYOUT_HASH; for HELLO and HELLO_REPLY it is seeded with
 * HELLO_CRC_SEED; for the compact messages it is CRC-16/0x5935 seeded with the two halves of
 * LAYOUT_HASH XORed. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware_iface/wire/limits.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is wrong with received bytes, in the order in which it is found. */
typedef enum {
  FRAME_OK = 0,
  FRAME_PENDING,      /* frame_receiver_push: no frame ended */
  FRAME_TOO_LONG,     /* frame_receiver_push: no delimiter within the longest frame */
  FRAME_BAD_STUFFING, /* not a COBS sequence */
  FRAME_BAD_LENGTH,   /* no room for type and CRC, or not the length of that type */
  FRAME_UNKNOWN_TYPE,
  FRAME_BAD_CRC
} frame_status;

/* Writes the frame of a message (type and body), delimiter included. Returns its size, or 0 when
 * the message's size does not fit its type or the frame does not fit out. */
size_t frame_encode(const uint8_t* message, size_t size_bytes, uint8_t* out, size_t capacity_bytes);

/* Checks the bytes between two delimiters. Only with FRAME_OK are message (room for
 * MESSAGE_SIZE_BYTES_MAX bytes) and *size_bytes written: exact length, known type, good CRC. */
frame_status frame_decode(const uint8_t* stuffed, size_t stuffed_size_bytes, uint8_t* message,
                          size_t* size_bytes);

/* Finds frames in a byte stream that may be damaged in any way. Whatever came before, the frame
 * after the next delimiter is read correctly. All zero is an empty receiver. */
typedef struct {
  uint8_t stuffed[FRAME_SIZE_BYTES_MAX];
  size_t stuffed_size_bytes;
  bool is_too_long;                        /* wait for the delimiter */
  uint8_t message[MESSAGE_SIZE_BYTES_MAX]; /* type and body of the last good frame */
  size_t message_size_bytes;
} frame_receiver;

/* Takes the next byte. FRAME_OK when it completed a good frame, whose message stays until the next
 * one; FRAME_PENDING when no frame ended, also for repeated delimiters; else what was dropped. */
frame_status frame_receiver_push(frame_receiver* receiver, uint8_t byte);

#ifdef __cplusplus
}
#endif
