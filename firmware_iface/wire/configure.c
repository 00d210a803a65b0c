#include "firmware_iface/wire/configure.h"

#include "firmware_iface/wire/coding/bytes.h"
#include "firmware_iface/wire/message_type.h"

void configure_request_encode(const configure_request* request, uint8_t out[CONFIGURE_SIZE_BYTES]) {
  out[0] = MESSAGE_CONFIGURE;
  put_u16(out + 1, request->sequence);
  out[3] = request->flags;
  out[4] = request->divider;
  out[5] = request->command_age_ticks;
  for (size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) out[6 + k] = request->inertial_divider[k];
}

bool configure_request_decode(const uint8_t* in, size_t size_bytes, configure_request* request) {
  if (size_bytes != CONFIGURE_SIZE_BYTES || in[0] != MESSAGE_CONFIGURE) return false;
  request->sequence = get_u16(in + 1);
  request->flags = in[3];
  request->divider = in[4];
  request->command_age_ticks = in[5];
  for (size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) request->inertial_divider[k] = in[6 + k];
  return true;
}

void configure_reply_encode(const configure_reply* reply, uint8_t out[CONFIGURE_REPLY_SIZE_BYTES]) {
  out[0] = MESSAGE_CONFIGURE_REPLY;
  put_u16(out + 1, reply->sequence);
  out[3] = reply->result;
  out[4] = reply->flags;
  out[5] = reply->divider;
  put_u32(out + 6, reply->samples_sent);
  put_u32(out + 10, reply->start_tick_us);
  put_u16(out + 14, reply->stream_count);
}

bool configure_reply_decode(const uint8_t* in, size_t size_bytes, configure_reply* reply) {
  if (size_bytes != CONFIGURE_REPLY_SIZE_BYTES || in[0] != MESSAGE_CONFIGURE_REPLY) return false;
  reply->sequence = get_u16(in + 1);
  reply->result = in[3];
  reply->flags = in[4];
  reply->divider = in[5];
  reply->samples_sent = get_u32(in + 6);
  reply->start_tick_us = get_u32(in + 10);
  reply->stream_count = get_u16(in + 14);
  return true;
}
