#include "firmware_iface/wire/clear.h"

#include "firmware_iface/wire/coding/bytes.h"
#include "firmware_iface/wire/message_type.h"

void clear_request_encode(const clear_request* request, uint8_t out[CLEAR_SIZE_BYTES]) {
  out[0] = MESSAGE_CLEAR;
  out[1] = request->step;
  put_u16(out + 2, request->token);
}

bool clear_request_decode(const uint8_t* in, size_t size_bytes, clear_request* request) {
  if (size_bytes != CLEAR_SIZE_BYTES || in[0] != MESSAGE_CLEAR) return false;
  request->step = in[1];
  request->token = get_u16(in + 2);
  return true;
}

void clear_reply_encode(const clear_reply* reply, uint8_t out[CLEAR_REPLY_SIZE_BYTES]) {
  out[0] = MESSAGE_CLEAR_REPLY;
  out[1] = reply->step;
  out[2] = reply->result;
  put_u16(out + 3, reply->token);
  out[5] = reply->fault_flags;
}

bool clear_reply_decode(const uint8_t* in, size_t size_bytes, clear_reply* reply) {
  if (size_bytes != CLEAR_REPLY_SIZE_BYTES || in[0] != MESSAGE_CLEAR_REPLY) return false;
  reply->step = in[1];
  reply->result = in[2];
  reply->token = get_u16(in + 3);
  reply->fault_flags = in[5];
  return true;
}
