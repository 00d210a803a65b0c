#include "firmware_iface/wire/session.h"

#include "firmware_iface/wire/coding/bytes.h"
#include "firmware_iface/wire/coding/crc.h"
#include "firmware_iface/wire/message_type.h"

void hello_encode(const hello_head* head, uint8_t out[HELLO_SIZE_BYTES]) {
  out[0] = MESSAGE_HELLO;
  out[1] = head->protocol_version;
  put_u32(out + 2, head->layout_hash);
  put_u16(out + 6, head->nonce);
}

bool hello_head_decode(const uint8_t* in, size_t size_bytes, hello_head* head) {
  if (size_bytes < HELLO_HEAD_SIZE_BYTES) return false;
  if (in[0] != MESSAGE_HELLO && in[0] != MESSAGE_HELLO_REPLY) return false;
  head->protocol_version = in[1];
  head->layout_hash = get_u32(in + 2);
  head->nonce = get_u16(in + 6);
  return true;
}

void hello_reply_encode(const hello_reply* reply, uint8_t out[HELLO_REPLY_SIZE_BYTES]) {
  out[0] = MESSAGE_HELLO_REPLY;
  out[1] = reply->protocol_version;
  put_u32(out + 2, reply->layout_hash);
  put_u16(out + 6, reply->nonce);
  put_u64(out + 8, reply->unit_id);
  put_u16(out + 16, reply->boot_count);
  put_u16(out + 18, reply->tick_rate_Hz);
  out[20] = reply->ttl_max_ms;
  out[21] = reply->capabilities;
  out[22] = reply->fault_flags;
  put_u32(out + 23, reply->configuration_hash);
  put_u16(out + 27, reply->stream_count);
  put_u32(out + 29, reply->samples_sent);
  out[33] = reply->encoder_count;
  out[34] = reply->motor_count;
  out[35] = reply->inertial_count;
  for (size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) out[36 + k] = reply->inertial_ticks[k];
}

bool hello_reply_decode(const uint8_t* in, size_t size_bytes, hello_reply* reply) {
  if (size_bytes != HELLO_REPLY_SIZE_BYTES || in[0] != MESSAGE_HELLO_REPLY) return false;
  if (in[1] != PROTOCOL_VERSION) return false;
  reply->protocol_version = in[1];
  reply->layout_hash = get_u32(in + 2);
  reply->nonce = get_u16(in + 6);
  reply->unit_id = get_u64(in + 8);
  reply->boot_count = get_u16(in + 16);
  reply->tick_rate_Hz = get_u16(in + 18);
  reply->ttl_max_ms = in[20];
  reply->capabilities = in[21];
  reply->fault_flags = in[22];
  reply->configuration_hash = get_u32(in + 23);
  reply->stream_count = get_u16(in + 27);
  reply->samples_sent = get_u32(in + 29);
  reply->encoder_count = in[33];
  reply->motor_count = in[34];
  reply->inertial_count = in[35];
  for (size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) reply->inertial_ticks[k] = in[36 + k];
  return true;
}

static uint32_t hash_parts(uint32_t hash, const part_description* part, size_t count) {
  for (size_t k = 0; k < count; ++k) {
    uint8_t bytes[10];
    bytes[0] = part[k].kind;
    bytes[1] = part[k].flags;
    put_u32(bytes + 2, part[k].scale);
    put_u32(bytes + 6, part[k].modulus);
    hash = crc32c(hash, bytes, sizeof(bytes));
  }
  return hash;
}

uint32_t unit_configuration_hash(const hello_reply* reply,
                                 const part_description encoder[ENCODERS_MAX],
                                 const part_description motor[MOTORS_MAX]) {
  uint8_t facts[15 + INERTIAL_SENSORS_MAX];
  put_u64(facts, reply->unit_id);
  put_u16(facts + 8, reply->tick_rate_Hz);
  facts[10] = reply->ttl_max_ms;
  facts[11] = reply->capabilities;
  facts[12] = reply->encoder_count;
  facts[13] = reply->motor_count;
  facts[14] = reply->inertial_count;
  for (size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) facts[15 + k] = reply->inertial_ticks[k];
  const size_t encoders =
      reply->encoder_count < ENCODERS_MAX ? reply->encoder_count : (size_t)ENCODERS_MAX;
  const size_t motors = reply->motor_count < MOTORS_MAX ? reply->motor_count : (size_t)MOTORS_MAX;
  const uint32_t hash = crc32c(0, facts, sizeof(facts));
  return hash_parts(hash_parts(hash, encoder, encoders), motor, motors);
}

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
