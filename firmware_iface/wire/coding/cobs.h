#pragma once

/* Consistent Overhead Byte Stuffing: stuffed bytes contain no zero, so a zero byte ends a frame,
 * and a reader can synchronize at the next one. [S. Cheshire, M. Baker, IEEE/ACM Transactions on
 * Networking 7(2), 1999] */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Stuffs size_bytes (0..254) bytes into exactly size_bytes + 1 bytes at out, without a delimiter.
 * Returns the number of bytes written; 0 if size_bytes is above 254 or out is too small. */
size_t cobs_encode(const uint8_t* in, size_t size_bytes, uint8_t* out, size_t capacity_bytes);

/* Decodes the output of cobs_encode. Returns false, with *out_size_bytes unchanged, if the bytes
 * are not a stuffed sequence (a zero inside, a length beyond the end) or out is too small. `out`
 * may be written up to capacity_bytes in either case. */
bool cobs_decode(const uint8_t* in, size_t size_bytes, uint8_t* out, size_t capacity_bytes,
                 size_t* out_size_bytes);

#ifdef __cplusplus
}
#endif
