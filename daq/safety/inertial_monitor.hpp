#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "daq/scenario/observation.hpp"
#include "firmware_iface/link/unit_sample.hpp"

namespace daq {

/// Scale of an inertial sensor: reading per count and axis [rad/s] or [m/s²]; 0 for axes that do
/// not exist.
struct InertialScale {
  std::array<double, INERTIAL_AXES> si_per_count{};
  std::array<std::int16_t, INERTIAL_AXES> counts_max{};  ///< at the end of the measuring range
};

/// Faults of an inertial sensor.
enum class InertialFault : std::uint8_t { kMissing, kStuck, kSaturated };
inline constexpr std::size_t kInertialFaultCount = 3;

/// Limits of an inertial sensor.
struct InertialLimits {
  std::string sensor;            ///< name, for messages
  bool stops_run = false;        ///< a fault switches the output off; otherwise it is only reported
  double missing_s_max = 0.0;    ///< longest time without a reading
  double stuck_s_max = 0.0;      ///< longest time in motion without a change of any count
  double saturated_s_max = 0.0;  ///< longest time at the end of the measuring range
  /// Counts at the end of the measuring range, by axis; 0 for axes that the sensor does not have.
  std::array<std::int16_t, INERTIAL_AXES> counts_max{};
};

/// Detects missing, stuck and saturated readings of inertial sensors. Real-time safe: no
/// allocation, no exceptions.
///
/// Constant counts are correct while no joint moves. A time that is NaN counts as too long.
class InertialMonitor {
 public:
  struct DetectedFault {
    InertialFault fault;
    double value;  ///< duration of the fault [s]
    double limit;  ///< allowed duration [s]
  };

  explicit InertialMonitor(const std::vector<InertialLimits>& limits);

  /// Adds a sample and the inertial readings that preceded the sample.
  void add(const Observation& now, const firmware_iface::InertialReadings& reading) noexcept;

  std::size_t sensor_count() const noexcept { return count_; }
  bool stops_run(std::size_t sensor) const noexcept { return bounds_[sensor].stops_run; }

  /// Returns whether a sensor currently has a fault of the given kind. Writes the duration of the
  /// fault to `finding`.
  bool has(std::size_t sensor, InertialFault fault, DetectedFault& finding) const noexcept;

 private:
  struct SensorBounds {
    bool stops_run;
    std::array<double, kInertialFaultCount> longest_s;
    std::array<std::int16_t, INERTIAL_AXES> counts_max;
  };
  struct SensorState {
    std::array<double, kInertialFaultCount> lasting_s{};  ///< duration of each fault so far
    std::array<std::int16_t, INERTIAL_AXES> counts{};
    bool seen = false;
  };

  bool is_saturated(std::size_t sensor, const SensorState& memory) const noexcept;

  std::size_t count_ = 0;
  std::array<SensorBounds, INERTIAL_SENSORS_MAX> bounds_{};
  std::array<SensorState, INERTIAL_SENSORS_MAX> memory_{};
  std::array<double, kJointsMax> last_angle_rad_{};
  double last_time_s_ = 0.0;
  bool started_ = false;
};

}  // namespace daq
