#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CRC-16 with polynomial 0x5935, most significant bit first: Hamming distance 5 at the length of a
 * compact SAMPLE, where the common CCITT polynomial has 4. Used where CRC-32C does not fit. */

/* Returns the CRC-16 of the data, with the register preset to 0xFFFF XOR seed and the result not
 * inverted. With seed 0 the CRC of the nine characters "123456789" is 0x772B. */
uint16_t crc16_5935(uint16_t seed, const uint8_t* data, size_t size_bytes);

/* CRC-32C (Castagnoli): polynomial 0x1EDC6F41, reflected, register preset to all ones, result
 * inverted. Hamming distance 6 at the length of a SAMPLE. */

/* Returns the CRC-32C of the data, with the seed XORed into the preset. Seed 0 gives the
 * standard CRC-32C, which is 0xE3069283 for the nine characters "123456789". */
uint32_t crc32c(uint32_t seed, const uint8_t* data, size_t size_bytes);

#ifdef __cplusplus
}
#endif
