#include "firmware_iface/wire/command.h"

#include "firmware_iface/wire/coding/bytes.h"
#include "firmware_iface/wire/message_type.h"

static int16_t symmetric_q15(int16_t value) { return value < -32767 ? (int16_t)-32767 : value; }

size_t command_request_encode(const command_request* request, uint8_t motor_count,
                              uint8_t out[COMMAND_SIZE_BYTES_MAX]) {
  out[0] = MESSAGE_COMMAND;
  put_u16(out + 1, request->sequence);
  put_u32(out + 3, request->answers);
  out[7] = request->flags;
  out[8] = request->ttl_ms;
  size_t size_bytes = COMMAND_HEAD_SIZE_BYTES;
  for (size_t k = 0; k < motor_count && k < MOTORS_MAX; ++k) {
    put_u16(out + size_bytes, (uint16_t)request->command_q15[k]);
    size_bytes += COMMAND_MOTOR_SIZE_BYTES;
  }
  return size_bytes;
}

bool command_request_decode(const uint8_t* in, size_t size_bytes, uint8_t motor_count,
                            command_request* request) {
  if (motor_count > MOTORS_MAX) return false;
  const size_t expected = COMMAND_HEAD_SIZE_BYTES + COMMAND_MOTOR_SIZE_BYTES * (size_t)motor_count;
  if (size_bytes != expected || in[0] != MESSAGE_COMMAND) return false;
  request->sequence = get_u16(in + 1);
  request->answers = get_u32(in + 3);
  request->flags = in[7];
  request->ttl_ms = in[8];
  for (size_t k = 0; k < MOTORS_MAX; ++k) {
    const uint8_t* at = in + COMMAND_HEAD_SIZE_BYTES + COMMAND_MOTOR_SIZE_BYTES * k;
    request->command_q15[k] = k < motor_count ? symmetric_q15(get_i16(at)) : (int16_t)0;
  }
  return true;
}

size_t command_compact_encode(const command_request* request,
                              uint8_t out[COMMAND_COMPACT_SIZE_BYTES]) {
  out[0] = MESSAGE_COMMAND_COMPACT;
  out[1] = (uint8_t)(request->sequence & 0xFFU);
  put_u24(out + 2, request->answers);
  out[5] = request->flags;
  out[6] = request->ttl_ms;
  put_u16(out + 7, (uint16_t)request->command_q15[0]);
  return COMMAND_COMPACT_SIZE_BYTES;
}

bool command_compact_decode(const uint8_t* in, size_t size_bytes, command_request* request) {
  if (size_bytes != COMMAND_COMPACT_SIZE_BYTES || in[0] != MESSAGE_COMMAND_COMPACT) return false;
  request->sequence = in[1];
  request->answers = get_u24(in + 2);
  request->flags = in[5];
  request->ttl_ms = in[6];
  for (size_t k = 1; k < MOTORS_MAX; ++k) request->command_q15[k] = 0;
  request->command_q15[0] = symmetric_q15(get_i16(in + 7));
  return true;
}
