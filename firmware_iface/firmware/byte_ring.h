#pragma once

/* A queue of bytes with one writer and one reader, either of which may interrupt the other. Only
 * the writer changes `written`, only the reader `taken`. Both are aligned words, which a Cortex-M
 * loads and stores atomically, and a byte is stored before `written` counts it. They and the array
 * are volatile, so that the compiler keeps this order; the core does not reorder. */

#include <stdbool.h>
#include <stdint.h>

enum { BYTE_RING_SIZE = 512 }; /* power of two; 921 600 baud fill it in 5 ms */

typedef struct {
  volatile uint8_t bytes[BYTE_RING_SIZE];
  volatile uint32_t written;
  volatile uint32_t taken;
} byte_ring;

static inline uint32_t byte_ring_room(const byte_ring* ring) {
  return BYTE_RING_SIZE - (ring->written - ring->taken);
}

/* Returns false, without any effect, if the ring is full. */
static inline bool byte_ring_put(byte_ring* ring, uint8_t byte) {
  if (byte_ring_room(ring) == 0) return false;
  ring->bytes[ring->written % BYTE_RING_SIZE] = byte;
  ring->written = ring->written + 1;
  return true;
}

/* Returns false, with *byte unchanged, if the ring is empty. */
static inline bool byte_ring_take(byte_ring* ring, uint8_t* byte) {
  if (ring->written == ring->taken) return false;
  *byte = ring->bytes[ring->taken % BYTE_RING_SIZE];
  ring->taken = ring->taken + 1;
  return true;
}
