/* Functions that the compiler may call for copies, without a C library. */

#include <stddef.h>
#include <stdint.h>

void* memcpy(void* restrict to, const void* restrict from, size_t size_bytes) {
  uint8_t* out = to;
  const uint8_t* in = from;
  for (size_t k = 0; k < size_bytes; ++k) out[k] = in[k];
  return to;
}

void* memset(void* to, int value, size_t size_bytes) {
  uint8_t* out = to;
  for (size_t k = 0; k < size_bytes; ++k) out[k] = (uint8_t)value;
  return to;
}
