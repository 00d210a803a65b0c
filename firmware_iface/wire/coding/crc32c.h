#pragma once

/* CRC-32C (Castagnoli): polynomial 0x1EDC6F41, reflected, register preset to all ones, result
 * inverted. Hamming distance 6 at the length of a SAMPLE. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the CRC-32C of the data, with the seed XORed into the preset. Seed 0 gives the
 * standard CRC-32C, which is 0xE3069283 for the nine characters "123456789". */
uint32_t crc32c(uint32_t seed, const uint8_t* data, size_t size_bytes);

#ifdef __cplusplus
}
#endif
