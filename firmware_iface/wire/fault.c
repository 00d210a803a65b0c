#include "firmware_iface/wire/fault.h"

#include "firmware_iface/wire/coding/bytes.h"
#include "firmware_iface/wire/message_type.h"

void fault_report_encode(const fault_report* report, uint8_t out[FAULT_SIZE_BYTES]) {
  out[0] = MESSAGE_FAULT;
  out[1] = report->fault_flags;
  out[2] = report->cause;
  put_u16(out + 3, report->sample_sequence);
  put_u32(out + 5, report->tick_us);
  put_u32(out + 9, (uint32_t)report->detail);
}

bool fault_report_decode(const uint8_t* in, size_t size_bytes, fault_report* report) {
  if (size_bytes != FAULT_SIZE_BYTES || in[0] != MESSAGE_FAULT) return false;
  report->fault_flags = in[1];
  report->cause = in[2];
  report->sample_sequence = get_u16(in + 3);
  report->tick_us = get_u32(in + 5);
  report->detail = get_i32(in + 9);
  return true;
}
