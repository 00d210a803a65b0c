#include "firmware_iface/wire/sample.h"

#include "firmware_iface/wire/coding/bytes.h"
#include "firmware_iface/wire/message_type.h"

size_t sample_size_bytes(sample_shape shape) {
  return SAMPLE_HEAD_SIZE_BYTES + SAMPLE_MOTOR_SIZE_BYTES * (size_t)shape.motor_count +
         SAMPLE_ENCODER_SIZE_BYTES * (size_t)shape.encoder_count +
         (shape.has_marks ? SAMPLE_MARKS_SIZE_BYTES : 0U);
}

size_t sample_report_encode(const sample_report* report, sample_shape shape,
                            uint8_t out[SAMPLE_SIZE_BYTES_MAX]) {
  out[0] = MESSAGE_SAMPLE;
  put_u16(out + 1, report->sequence);
  put_u32(out + 3, report->tick_us);
  put_u16(out + 7, report->command_sequence);
  put_u16(out + 9, report->encoders_valid);
  out[11] = report->status;
  out[12] = report->fault_flags;
  out[13] = report->error_count;
  uint8_t* at = out + SAMPLE_HEAD_SIZE_BYTES;
  for (size_t k = 0; k < shape.motor_count && k < MOTORS_MAX; ++k) {
    put_u16(at, (uint16_t)report->command_q15[k]);
    at += SAMPLE_MOTOR_SIZE_BYTES;
  }
  for (size_t k = 0; k < shape.encoder_count && k < ENCODERS_MAX; ++k) {
    put_u32(at, (uint32_t)report->encoder_counts[k]);
    at += SAMPLE_ENCODER_SIZE_BYTES;
  }
  if (shape.has_marks) {
    put_u16(at, report->index_passed);
    put_u16(at + 2, report->home_closed);
    at += SAMPLE_MARKS_SIZE_BYTES;
  }
  return (size_t)(at - out);
}

bool sample_report_decode(const uint8_t* in, size_t size_bytes, sample_shape shape,
                          sample_report* report) {
  if (shape.motor_count > MOTORS_MAX || shape.encoder_count > ENCODERS_MAX) return false;
  if (size_bytes != sample_size_bytes(shape) || in[0] != MESSAGE_SAMPLE) return false;
  report->sequence = get_u16(in + 1);
  report->tick_us = get_u32(in + 3);
  report->command_sequence = get_u16(in + 7);
  report->encoders_valid = get_u16(in + 9);
  report->status = in[11];
  report->fault_flags = in[12];
  report->error_count = in[13];
  const uint8_t* at = in + SAMPLE_HEAD_SIZE_BYTES;
  for (size_t k = 0; k < MOTORS_MAX; ++k) {
    const bool is_sent = k < shape.motor_count;
    report->command_q15[k] = is_sent ? get_i16(at) : (int16_t)0;
    if (is_sent) at += SAMPLE_MOTOR_SIZE_BYTES;
  }
  for (size_t k = 0; k < ENCODERS_MAX; ++k) {
    const bool is_sent = k < shape.encoder_count;
    report->encoder_counts[k] = is_sent ? get_i32(at) : 0;
    if (is_sent) at += SAMPLE_ENCODER_SIZE_BYTES;
  }
  report->index_passed = shape.has_marks ? get_u16(at) : (uint16_t)0;
  report->home_closed = shape.has_marks ? get_u16(at + 2) : (uint16_t)0;
  return true;
}

bool sample_shape_is_compact(sample_shape shape) {
  return shape.motor_count == 1 && shape.encoder_count >= 1 &&
         shape.encoder_count <= COMPACT_ENCODERS_MAX && !shape.has_marks;
}

size_t sample_compact_encode(const sample_report* report, sample_shape shape,
                             uint8_t out[SAMPLE_COMPACT_SIZE_BYTES_MAX]) {
  if (!sample_shape_is_compact(shape)) return 0;
  out[0] = MESSAGE_SAMPLE_COMPACT;
  out[1] = (uint8_t)(report->sequence & 0xFFU);
  put_u24(out + 2, report->tick_us);
  out[5] = (uint8_t)(report->command_sequence & 0xFFU);
  out[6] = (uint8_t)((report->encoders_valid & 0x0FU) | ((report->status & 0x0FU) << 4));
  out[7] = report->fault_flags;
  out[8] = report->error_count;
  put_u16(out + 9, (uint16_t)report->command_q15[0]);
  size_t size_bytes = SAMPLE_COMPACT_HEAD_SIZE_BYTES;
  for (size_t k = 0; k < shape.encoder_count; ++k) {
    put_u24(out + size_bytes, (uint32_t)report->encoder_counts[k]);
    size_bytes += SAMPLE_COMPACT_ENCODER_SIZE_BYTES;
  }
  return size_bytes;
}

bool sample_compact_decode(const uint8_t* in, size_t size_bytes, sample_shape shape,
                           sample_report* report) {
  if (!sample_shape_is_compact(shape)) return false;
  const size_t expected = SAMPLE_COMPACT_HEAD_SIZE_BYTES +
                          SAMPLE_COMPACT_ENCODER_SIZE_BYTES * (size_t)shape.encoder_count;
  if (size_bytes != expected || in[0] != MESSAGE_SAMPLE_COMPACT) return false;
  report->sequence = in[1];
  report->tick_us = get_u24(in + 2);
  report->command_sequence = in[5];
  report->encoders_valid = in[6] & 0x0FU;
  report->status = (uint8_t)(in[6] >> 4);
  report->fault_flags = in[7];
  report->error_count = in[8];
  for (size_t k = 1; k < MOTORS_MAX; ++k) report->command_q15[k] = 0;
  report->command_q15[0] = get_i16(in + 9);
  for (size_t k = 0; k < ENCODERS_MAX; ++k) {
    const uint8_t* at = in + SAMPLE_COMPACT_HEAD_SIZE_BYTES + SAMPLE_COMPACT_ENCODER_SIZE_BYTES * k;
    report->encoder_counts[k] = k < shape.encoder_count ? get_i24(at) : 0;
  }
  report->index_passed = 0;
  report->home_closed = 0;
  return true;
}
