#include "firmware_iface/wire/describe.h"

#include "firmware_iface/wire/coding/bytes.h"
#include "firmware_iface/wire/message_type.h"

void describe_request_encode(const describe_request* request, uint8_t out[DESCRIBE_SIZE_BYTES]) {
  out[0] = MESSAGE_DESCRIBE;
  out[1] = request->part;
  out[2] = request->index;
}

bool describe_request_decode(const uint8_t* in, size_t size_bytes, describe_request* request) {
  if (size_bytes != DESCRIBE_SIZE_BYTES || in[0] != MESSAGE_DESCRIBE) return false;
  request->part = in[1];
  request->index = in[2];
  return true;
}

void describe_reply_encode(const describe_reply* reply, uint8_t out[DESCRIBE_REPLY_SIZE_BYTES]) {
  out[0] = MESSAGE_DESCRIBE_REPLY;
  out[1] = reply->part;
  out[2] = reply->index;
  out[3] = reply->description.kind;
  out[4] = reply->description.flags;
  put_u32(out + 5, reply->description.scale);
  put_u32(out + 9, reply->description.modulus);
}

bool describe_reply_decode(const uint8_t* in, size_t size_bytes, describe_reply* reply) {
  if (size_bytes != DESCRIBE_REPLY_SIZE_BYTES || in[0] != MESSAGE_DESCRIBE_REPLY) return false;
  reply->part = in[1];
  reply->index = in[2];
  reply->description.kind = in[3];
  reply->description.flags = in[4];
  reply->description.scale = get_u32(in + 5);
  reply->description.modulus = get_u32(in + 9);
  return true;
}
