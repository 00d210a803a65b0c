#include "firmware_iface/wire/sample.h"

#include "firmware_iface/wire/bytes.h"
#include "firmware_iface/wire/message_type.h"

size_t sample_report_encode(const sample_report* report, uint8_t out[SAMPLE_SIZE_BYTES_MAX]) {
  out[0] = MESSAGE_SAMPLE;
  put_u16(out + 1, report->sequence);
  put_u32(out + 3, report->tick_us);
  put_u16(out + 7, (uint16_t)report->command_q15);
  put_u16(out + 9, report->command_sequence);
  out[11] = report->channels_valid;
  out[12] = report->status;
  out[13] = report->fault_flags;
  out[14] = report->error_count;
  size_t size_bytes = SAMPLE_HEAD_SIZE_BYTES;
  for (size_t k = 0; k < report->channel_count && k < CHANNELS_MAX; ++k) {
    put_u32(out + size_bytes, (uint32_t)report->encoder_counts[k]);
    size_bytes += SAMPLE_CHANNEL_SIZE_BYTES;
  }
  return size_bytes;
}

bool sample_report_decode(const uint8_t* in, size_t size_bytes, sample_report* report) {
  if (size_bytes == 0 || in[0] != MESSAGE_SAMPLE || !message_size_is_valid(in[0], size_bytes)) {
    return false;
  }
  report->sequence = get_u16(in + 1);
  report->tick_us = get_u32(in + 3);
  report->command_q15 = get_i16(in + 7);
  report->command_sequence = get_u16(in + 9);
  report->channels_valid = in[11];
  report->status = in[12];
  report->fault_flags = in[13];
  report->error_count = in[14];
  report->channel_count =
      (uint8_t)((size_bytes - SAMPLE_HEAD_SIZE_BYTES) / SAMPLE_CHANNEL_SIZE_BYTES);
  for (size_t k = 0; k < CHANNELS_MAX; ++k) {
    const uint8_t* count = in + SAMPLE_HEAD_SIZE_BYTES + SAMPLE_CHANNEL_SIZE_BYTES * k;
    report->encoder_counts[k] = k < report->channel_count ? get_i32(count) : 0;
  }
  return true;
}
