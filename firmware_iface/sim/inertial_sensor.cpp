#include "firmware_iface/sim/inertial_sensor.hpp"

#include <algorithm>
#include <cmath>

namespace firmware_iface::sim {
namespace {

std::int16_t quantized(double value, double counts_per_unit, double range) noexcept {
  double most = INERTIAL_COUNTS_MAX;
  if (range > 0.0) most = std::min(most, std::floor(range * counts_per_unit));
  return static_cast<std::int16_t>(std::clamp(std::round(value * counts_per_unit), -most, most));
}

}  // namespace

std::array<double, INERTIAL_AXES> compute_exact_reading(const InertialSensorSettings& sensor,
                                                        const BodyMotion& body) noexcept {
  // Offset from the centre of mass to the sensor, and specific force there, in world coordinates.
  Vector3 arm{};
  for (std::size_t k = 0; k < 3; ++k) arm = sum(arm, scale_vector(sensor.point[k], body.axes[k]));
  const Vector3 turning = cross(body.angular_velocity, cross(body.angular_velocity, arm));
  const Vector3 force =
      sum(body.specific_force, sum(cross(body.angular_acceleration, arm), turning));
  const auto along_sensor = [&](const Vector3& world) {
    const Vector3 in_body = {dot(world, body.axes[0]), dot(world, body.axes[1]),
                             dot(world, body.axes[2])};
    return rotate_vector(in_body, scale_vector(-1.0, sensor.mounting));
  };
  const Vector3 rate = along_sensor(body.angular_velocity);
  const Vector3 felt = along_sensor(force);
  return {rate[0], rate[1], rate[2], felt[0], felt[1], felt[2]};
}

std::array<std::int16_t, INERTIAL_AXES> read(const InertialSensorSettings& sensor,
                                             const BodyMotion& body,
                                             std::mt19937_64& random) noexcept {
  const std::array<double, INERTIAL_AXES> exact = compute_exact_reading(sensor, body);
  std::normal_distribution<double> noise;
  std::array<std::int16_t, INERTIAL_AXES> counts{};
  for (std::size_t k = 0; k < 3; ++k) {
    counts[k] = quantized(exact[k] + sensor.gyro_bias[k] + sensor.gyro_noise * noise(random),
                          sensor.gyro_counts, sensor.gyro_range);
  }
  for (std::size_t k = 0; k < 3; ++k) {
    counts[k + 3] =
        quantized(exact[k + 3] + sensor.accel_bias[k] + sensor.accel_noise * noise(random),
                  sensor.accel_counts, sensor.accel_range);
  }
  return counts;
}

}  // namespace firmware_iface::sim
