#include "firmware_iface/wire/command.h"

#include "firmware_iface/wire/bytes.h"
#include "firmware_iface/wire/message_type.h"

static int16_t symmetric_q15(int16_t value) { return value < -32767 ? (int16_t)-32767 : value; }

void command_request_encode(const command_request* request, uint8_t out[COMMAND_SIZE_BYTES]) {
  out[0] = MESSAGE_COMMAND;
  put_u16(out + 1, request->sequence);
  put_u16(out + 3, (uint16_t)request->command_q15);
  out[5] = request->flags;
  out[6] = request->ttl_ms;
}

bool command_request_decode(const uint8_t* in, size_t size_bytes, command_request* request) {
  if (size_bytes != COMMAND_SIZE_BYTES || in[0] != MESSAGE_COMMAND) return false;
  request->sequence = get_u16(in + 1);
  request->command_q15 = symmetric_q15(get_i16(in + 3));
  request->flags = in[5];
  request->ttl_ms = in[6];
  return true;
}

void command_compact_encode(const command_request* request,
                            uint8_t out[COMMAND_COMPACT_SIZE_BYTES]) {
  out[0] = MESSAGE_COMMAND_COMPACT;
  out[1] = (uint8_t)(request->sequence & 0xFFU);
  put_u16(out + 2, (uint16_t)request->command_q15);
  out[4] = request->flags;
  out[5] = request->ttl_ms;
}

bool command_compact_decode(const uint8_t* in, size_t size_bytes, command_request* request) {
  if (size_bytes != COMMAND_COMPACT_SIZE_BYTES || in[0] != MESSAGE_COMMAND_COMPACT) return false;
  request->sequence = in[1];
  request->command_q15 = symmetric_q15(get_i16(in + 2));
  request->flags = in[4];
  request->ttl_ms = in[5];
  return true;
}
