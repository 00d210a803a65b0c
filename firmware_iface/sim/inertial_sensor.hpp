#pragma once

#include <array>
#include <cstdint>
#include <random>

#include "firmware_iface/sim/plant.hpp"
#include "firmware_iface/wire/inertial.h"

namespace firmware_iface::sim {

/// Settings of a simulated inertial sensor: a gyroscope and an accelerometer in one case on a body
/// of the rig.
struct InertialSensorSettings {
  int joint = 0;             ///< joint whose body carries the sensor
  Vector3 point{};           ///< position from the body's centre of mass, along the body's axes [m]
  Vector3 mounting{};        ///< rotation vector from the body's axes to the sensor's [rad]
  Vector3 gyro_bias{};       ///< [rad/s]
  Vector3 accel_bias{};      ///< [m/s²]
  double gyro_noise = 0.0;   ///< standard deviation of a reading [rad/s]
  double accel_noise = 0.0;  ///< [m/s²]
  double gyro_counts = 16.4 * 57.29577951308232;  ///< [1/(rad/s)]
  double accel_counts = 4096.0 / 9.80665;         ///< [1/(m/s²)]
  double gyro_range = 0.0;   ///< to either side [rad/s]; 0: the limit of the counts
  double accel_range = 0.0;  ///< to either side [m/s²]; 0: the limit of the counts
  int divider = 1;           ///< ticks per reading
  double dropout = 0.0;      ///< probability that a reading is missing
};

/// Returns the readings of an inertial sensor without errors: angular rates about the sensor axes
/// [rad/s], then specific forces along the sensor axes [m/s²].
std::array<double, INERTIAL_AXES> compute_exact_reading(const InertialSensorSettings& sensor,
                                                        const BodyMotion& body) noexcept;

/// Returns the readings of an inertial sensor in counts, with bias, noise, quantization and limited
/// range.
std::array<std::int16_t, INERTIAL_AXES> read(const InertialSensorSettings& sensor,
                                             const BodyMotion& body,
                                             std::mt19937_64& random) noexcept;

}  // namespace firmware_iface::sim
