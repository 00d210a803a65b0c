#include "firmware_iface/wire/coding/cobs.h"

enum { COBS_SIZE_BYTES_MAX = 254 };

size_t cobs_encode(const uint8_t* in, size_t size_bytes, uint8_t* out, size_t capacity_bytes) {
  if (size_bytes > COBS_SIZE_BYTES_MAX || capacity_bytes < size_bytes + 1) return 0;
  size_t code_index = 0; /* position of the distance to the next zero */
  for (size_t k = 0; k < size_bytes; ++k) {
    if (in[k] == 0) {
      out[code_index] = (uint8_t)(k + 1 - code_index);
      code_index = k + 1;
    } else {
      out[k + 1] = in[k];
    }
  }
  out[code_index] = (uint8_t)(size_bytes + 1 - code_index);
  return size_bytes + 1;
}

bool cobs_decode(const uint8_t* in, size_t size_bytes, uint8_t* out, size_t capacity_bytes,
                 size_t* out_size_bytes) {
  if (size_bytes == 0 || size_bytes > COBS_SIZE_BYTES_MAX + 1 || capacity_bytes < size_bytes - 1) {
    return false;
  }
  size_t next_code_index = 0;
  for (size_t k = 0; k < size_bytes; ++k) {
    if (in[k] == 0) return false;
    if (k == next_code_index) {
      next_code_index = k + in[k];
      if (k > 0) out[k - 1] = 0;
    } else {
      out[k - 1] = in[k];
    }
  }
  if (next_code_index != size_bytes) return false;
  *out_size_bytes = size_bytes - 1;
  return true;
}
