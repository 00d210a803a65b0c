#include "firmware_iface/wire/inertial.h"

#include "firmware_iface/wire/coding/bytes.h"
#include "firmware_iface/wire/message_type.h"

enum { SENSORS_MASK = (1 << INERTIAL_SENSORS_MAX) - 1 };

static bool is_named(uint8_t sensors, size_t sensor) { return ((sensors >> sensor) & 1) != 0; }

static size_t size_of(uint8_t sensors) {
  size_t size_bytes = INERTIAL_HEAD_SIZE_BYTES;
  for (size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
    if (is_named(sensors, k)) size_bytes += INERTIAL_SENSOR_SIZE_BYTES;
  }
  return size_bytes;
}

size_t inertial_report_encode(const inertial_report* report, uint8_t out[INERTIAL_SIZE_BYTES_MAX]) {
  const uint8_t sensors = (uint8_t)(report->sensors & SENSORS_MASK);
  out[0] = MESSAGE_INERTIAL;
  put_u16(out + 1, report->sequence);
  out[3] = sensors;
  uint8_t* at = out + INERTIAL_HEAD_SIZE_BYTES;
  for (size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
    if (!is_named(sensors, k)) continue;
    for (size_t axis = 0; axis < INERTIAL_AXES; ++axis) {
      put_u16(at, (uint16_t)report->counts[k][axis]);
      at += 2;
    }
  }
  return size_of(sensors);
}

bool inertial_report_decode(const uint8_t* in, size_t size_bytes, inertial_report* report) {
  if (size_bytes < INERTIAL_SIZE_BYTES_MIN || in[0] != MESSAGE_INERTIAL) return false;
  const uint8_t sensors = in[3];
  if ((sensors & ~SENSORS_MASK) != 0 || size_bytes != size_of(sensors)) return false;
  report->sequence = get_u16(in + 1);
  report->sensors = sensors;
  const uint8_t* at = in + INERTIAL_HEAD_SIZE_BYTES;
  for (size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
    for (size_t axis = 0; axis < INERTIAL_AXES; ++axis) {
      report->counts[k][axis] = INERTIAL_NOT_READ;
      if (!is_named(sensors, k)) continue;
      report->counts[k][axis] = get_i16(at);
      at += 2;
    }
  }
  return true;
}
