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

/* Errors of received bytes, in the order in which they are checked. */
typedef enum {
  FRAME_OK = 0,
  FRAME_PENDING,      /* frame_receiver_push: no frame ended */
  FRAME_TOO_LONG,     /* frame_receiver_push: no delimiter within the longest frame */
  FRAME_BAD_STUFFING, /* not a COBS sequence */
  FRAME_BAD_LENGTH,   /* too short for type and CRC, or not the length of that type */
  FRAME_UNKNOWN_TYPE,
  FRAME_BAD_CRC
} frame_status;

/* Writes the frame of a message (type and body), including the delimiter. Returns its size; 0 if
 * the message's size does not match its type or the frame does not fit. */
size_t frame_encode(const uint8_t* message, size_t size_bytes, uint8_t* out, size_t capacity_bytes);

/* Checks the bytes between two delimiters. Only with FRAME_OK it writes message (capacity
 * MESSAGE_SIZE_BYTES_MAX bytes) and *size_bytes: exact length, known type, correct CRC. */
frame_status frame_decode(const uint8_t* stuffed, size_t stuffed_size_bytes, uint8_t* message,
                          size_t* size_bytes);

/* Finds frames in a byte stream with any damage. The frame after the next delimiter is always read
 * correctly. An empty receiver is all zero. */
typedef struct {
  uint8_t stuffed[FRAME_SIZE_BYTES_MAX];
  size_t stuffed_size_bytes;
  bool is_too_long;                        /* wait for the delimiter */
  uint8_t message[MESSAGE_SIZE_BYTES_MAX]; /* type and body of the last good frame */
  size_t message_size_bytes;
} frame_receiver;

/* Adds a byte. Returns FRAME_OK if it completes a good frame, whose message is kept until the next
 * one; FRAME_PENDING if no frame ended, also for repeated delimiters; otherwise the error of the
 * dropped frame. */
frame_status frame_receiver_push(frame_receiver* receiver, uint8_t byte);

#ifdef __cplusplus
}
#endif
