#pragma once

/* CRC-16 with polynomial 0x5935, most significant bit first: Hamming distance 5 at the length of a
 * compact SAMPLE, where the common CCITT polynomial has 4. Used where CRC-32C does not fit. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the CRC-16 of the data, with the register preset to 0xFFFF XOR seed and the result not
 * inverted. With seed 0 the CRC of the nine characters "123456789" is 0x772B. */
uint16_t crc16_5935(uint16_t seed, const uint8_t* data, size_t size_bytes);

#ifdef __cplusplus
}
#endif
