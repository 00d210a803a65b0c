#include "firmware_iface/wire/hello.h"

#include "firmware_iface/wire/bytes.h"
#include "firmware_iface/wire/crc32c.h"
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
  out[18] = reply->channel_count;
  put_u16(out + 19, reply->tick_rate_Hz);
  put_u16(out + 21, reply->command_max_mV);
  out[23] = reply->ttl_max_ms;
  out[24] = reply->capabilities;
  out[25] = reply->fault_flags;
  put_u32(out + 26, reply->configuration_hash);
  put_u16(out + 30, reply->stream_count);
  put_u32(out + 32, reply->samples_sent);
  for (size_t k = 0; k < CHANNELS_MAX; ++k) put_u32(out + 36 + 4 * k, reply->counts_per_turn[k]);
  out[52] = reply->inertial_count;
  for (size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) out[53 + k] = reply->inertial_ticks[k];
}

bool hello_reply_decode(const uint8_t* in, size_t size_bytes, hello_reply* reply) {
  if (size_bytes != HELLO_REPLY_SIZE_BYTES || in[0] != MESSAGE_HELLO_REPLY) return false;
  if (in[1] != PROTOCOL_VERSION) return false;
  reply->protocol_version = in[1];
  reply->layout_hash = get_u32(in + 2);
  reply->nonce = get_u16(in + 6);
  reply->unit_id = get_u64(in + 8);
  reply->boot_count = get_u16(in + 16);
  reply->channel_count = in[18];
  reply->tick_rate_Hz = get_u16(in + 19);
  reply->command_max_mV = get_u16(in + 21);
  reply->ttl_max_ms = in[23];
  reply->capabilities = in[24];
  reply->fault_flags = in[25];
  reply->configuration_hash = get_u32(in + 26);
  reply->stream_count = get_u16(in + 30);
  reply->samples_sent = get_u32(in + 32);
  for (size_t k = 0; k < CHANNELS_MAX; ++k) reply->counts_per_turn[k] = get_u32(in + 36 + 4 * k);
  reply->inertial_count = in[52];
  for (size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) reply->inertial_ticks[k] = in[53 + k];
  return true;
}

uint32_t hello_reply_configuration_hash(const hello_reply* reply) {
  uint8_t facts[8 + 1 + 2 + 2 + 1 + 1 + 4 * CHANNELS_MAX + 1 + INERTIAL_SENSORS_MAX];
  put_u64(facts, reply->unit_id);
  facts[8] = reply->channel_count;
  put_u16(facts + 9, reply->tick_rate_Hz);
  put_u16(facts + 11, reply->command_max_mV);
  facts[13] = reply->ttl_max_ms;
  facts[14] = reply->capabilities;
  for (size_t k = 0; k < CHANNELS_MAX; ++k) put_u32(facts + 15 + 4 * k, reply->counts_per_turn[k]);
  uint8_t* inertial = facts + 15 + 4 * CHANNELS_MAX;
  inertial[0] = reply->inertial_count;
  for (size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) inertial[1 + k] = reply->inertial_ticks[k];
  return crc32c(0, facts, sizeof(facts));
}
