#pragma once

/* Functions that write and read little-endian integers at any alignment, without struct overlays
 * and for any CPU. */

#include <stdint.h>

static inline void put_u16(uint8_t* out, uint16_t value) {
  out[0] = (uint8_t)(value & 0xFFU);
  out[1] = (uint8_t)((uint32_t)value >> 8);
}

static inline void put_u24(uint8_t* out, uint32_t value) {
  out[0] = (uint8_t)(value & 0xFFU);
  out[1] = (uint8_t)((value >> 8) & 0xFFU);
  out[2] = (uint8_t)((value >> 16) & 0xFFU);
}

static inline void put_u32(uint8_t* out, uint32_t value) {
  put_u24(out, value);
  out[3] = (uint8_t)(value >> 24);
}

static inline void put_u64(uint8_t* out, uint64_t value) {
  put_u32(out, (uint32_t)(value & 0xFFFFFFFFU));
  put_u32(out + 4, (uint32_t)(value >> 32));
}

static inline uint16_t get_u16(const uint8_t* in) {
  return (uint16_t)((uint32_t)in[0] | ((uint32_t)in[1] << 8));
}

static inline uint32_t get_u24(const uint8_t* in) {
  return (uint32_t)in[0] | ((uint32_t)in[1] << 8) | ((uint32_t)in[2] << 16);
}

static inline uint32_t get_u32(const uint8_t* in) { return get_u24(in) | ((uint32_t)in[3] << 24); }

static inline uint64_t get_u64(const uint8_t* in) {
  return (uint64_t)get_u32(in) | ((uint64_t)get_u32(in + 4) << 32);
}

/* Functions that read two's complement without a conversion of out-of-range values, which C11
 * leaves to the implementation. */
static inline int16_t get_i16(const uint8_t* in) {
  const int32_t value = (int32_t)get_u16(in);
  return (int16_t)(value < 0x8000 ? value : value - 0x10000);
}

static inline int32_t get_i24(const uint8_t* in) {
  const int32_t value = (int32_t)get_u24(in);
  return value < 0x800000 ? value : value - 0x1000000;
}

static inline int32_t get_i32(const uint8_t* in) {
  const int64_t value = (int64_t)get_u32(in);
  return (int32_t)(value < 0x80000000LL ? value : value - 0x100000000LL);
}
