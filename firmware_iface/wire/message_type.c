#include "firmware_iface/wire/message_type.h"

#include "firmware_iface/wire/command.h"
#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/inertial.h"
#include "firmware_iface/wire/limits.h"
#include "firmware_iface/wire/sample.h"
#include "firmware_iface/wire/session.h"

/* Sizes from min to max in steps of step_size_bytes; step 0 means min only. HELLO and HELLO_REPLY
 * may have any size from that of their fixed head, so that other versions are recognized. */
typedef struct {
  uint8_t type;
  uint8_t crc_size_bytes;
  uint8_t size_bytes_min;
  uint8_t size_bytes_max;
  uint8_t step_size_bytes;
} message_format;

static const message_format kFormats[] = {
    {MESSAGE_HELLO, 4, HELLO_HEAD_SIZE_BYTES, HELLO_REPLY_SIZE_BYTES_MAX, 1},
    {MESSAGE_HELLO_REPLY, 4, HELLO_HEAD_SIZE_BYTES, HELLO_REPLY_SIZE_BYTES_MAX, 1},
    {MESSAGE_CONFIGURE, 4, CONFIGURE_SIZE_BYTES, CONFIGURE_SIZE_BYTES, 0},
    {MESSAGE_CONFIGURE_REPLY, 4, CONFIGURE_REPLY_SIZE_BYTES, CONFIGURE_REPLY_SIZE_BYTES, 0},
    {MESSAGE_CLEAR, 4, CLEAR_SIZE_BYTES, CLEAR_SIZE_BYTES, 0},
    {MESSAGE_CLEAR_REPLY, 4, CLEAR_REPLY_SIZE_BYTES, CLEAR_REPLY_SIZE_BYTES, 0},
    {MESSAGE_FAULT, 4, FAULT_SIZE_BYTES, FAULT_SIZE_BYTES, 0},
    {MESSAGE_DESCRIBE, 4, DESCRIBE_SIZE_BYTES, DESCRIBE_SIZE_BYTES, 0},
    {MESSAGE_DESCRIBE_REPLY, 4, DESCRIBE_REPLY_SIZE_BYTES, DESCRIBE_REPLY_SIZE_BYTES, 0},
    {MESSAGE_SAMPLE, 4, SAMPLE_HEAD_SIZE_BYTES + SAMPLE_ENCODER_SIZE_BYTES, SAMPLE_SIZE_BYTES_MAX,
     SAMPLE_MOTOR_SIZE_BYTES},
    {MESSAGE_SAMPLE_COMPACT, 2, SAMPLE_COMPACT_HEAD_SIZE_BYTES + SAMPLE_COMPACT_ENCODER_SIZE_BYTES,
     SAMPLE_COMPACT_SIZE_BYTES_MAX, SAMPLE_COMPACT_ENCODER_SIZE_BYTES},
    {MESSAGE_INERTIAL, 4, INERTIAL_SIZE_BYTES_MIN, INERTIAL_SIZE_BYTES_MAX,
     INERTIAL_SENSOR_SIZE_BYTES},
    {MESSAGE_COMMAND, 4, COMMAND_HEAD_SIZE_BYTES, COMMAND_SIZE_BYTES_MAX, COMMAND_MOTOR_SIZE_BYTES},
    {MESSAGE_COMMAND_COMPACT, 2, COMMAND_COMPACT_SIZE_BYTES, COMMAND_COMPACT_SIZE_BYTES, 0},
};

static const message_format* find_format(uint8_t type) {
  for (size_t k = 0; k < sizeof(kFormats) / sizeof(kFormats[0]); ++k) {
    if (kFormats[k].type == type) return &kFormats[k];
  }
  return NULL;
}

bool message_type_is_known(uint8_t type) { return find_format(type) != NULL; }

bool message_size_is_valid(uint8_t type, size_t size_bytes) {
  const message_format* format = find_format(type);
  if (format == NULL) return false;
  if (size_bytes < format->size_bytes_min || size_bytes > format->size_bytes_max) return false;
  const size_t excess = size_bytes - format->size_bytes_min;
  return format->step_size_bytes == 0 ? excess == 0 : excess % format->step_size_bytes == 0;
}

size_t message_crc_size_bytes(uint8_t type) {
  const message_format* format = find_format(type);
  return format == NULL ? 4 : format->crc_size_bytes;
}
