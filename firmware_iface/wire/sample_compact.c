#include "firmware_iface/wire/sample_compact.h"

#include "firmware_iface/wire/bytes.h"
#include "firmware_iface/wire/message_type.h"

size_t sample_compact_encode(const sample_report* report,
                             uint8_t out[SAMPLE_COMPACT_SIZE_BYTES_MAX]) {
  out[0] = MESSAGE_SAMPLE_COMPACT;
  out[1] = (uint8_t)(report->sequence & 0xFFU);
  put_u24(out + 2, report->tick_us);
  put_u16(out + 5, (uint16_t)report->command_q15);
  out[7] = (uint8_t)(report->command_sequence & 0xFFU);
  out[8] = (uint8_t)((report->channels_valid & 0x0FU) | ((report->status & 0x0FU) << 4));
  out[9] = report->fault_flags;
  out[10] = report->error_count;
  size_t size_bytes = SAMPLE_COMPACT_HEAD_SIZE_BYTES;
  for (size_t k = 0; k < report->channel_count && k < CHANNELS_MAX; ++k) {
    put_u24(out + size_bytes, (uint32_t)report->encoder_counts[k]);
    size_bytes += SAMPLE_COMPACT_CHANNEL_SIZE_BYTES;
  }
  return size_bytes;
}

bool sample_compact_decode(const uint8_t* in, size_t size_bytes, sample_report* report) {
  if (size_bytes == 0 || in[0] != MESSAGE_SAMPLE_COMPACT ||
      !message_size_is_valid(in[0], size_bytes)) {
    return false;
  }
  report->sequence = in[1];
  report->tick_us = get_u24(in + 2);
  report->command_q15 = get_i16(in + 5);
  report->command_sequence = in[7];
  report->channels_valid = in[8] & 0x0FU;
  report->status = (uint8_t)(in[8] >> 4);
  report->fault_flags = in[9];
  report->error_count = in[10];
  report->channel_count =
      (uint8_t)((size_bytes - SAMPLE_COMPACT_HEAD_SIZE_BYTES) / SAMPLE_COMPACT_CHANNEL_SIZE_BYTES);
  for (size_t k = 0; k < CHANNELS_MAX; ++k) {
    const uint8_t* count =
        in + SAMPLE_COMPACT_HEAD_SIZE_BYTES + SAMPLE_COMPACT_CHANNEL_SIZE_BYTES * k;
    report->encoder_counts[k] = k < report->channel_count ? get_i24(count) : 0;
  }
  return true;
}
