#pragma once

/* Golden vectors on the target: interface between golden.c and the generated checks. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware_iface/wire/limits.h"

/* Whether the message encodes to these bytes. */
bool golden_encodes_to(const uint8_t* message, size_t size_bytes, const uint8_t* frame,
                       size_t frame_size_bytes);

/* Decodes the frame, delimiter included. */
bool golden_decode(const uint8_t* frame, size_t frame_size_bytes, uint8_t* message,
                   size_t* size_bytes);

typedef struct {
  const char* vector; /* its first line in PROTOCOL.md */
  bool (*passes)(void);
} golden_check;

extern const golden_check kGoldenChecks[];
extern const size_t kGoldenCheckCount;
