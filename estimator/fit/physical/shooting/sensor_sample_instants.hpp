#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Returns the axes of inertial sensors that have readings in any segment. An axis is given by the
/// number sensor · kAxes + axis. Held-out sensors are skipped.
std::vector<int> find_read_sensor_axes(const Mechanism& mechanism,
                                       const std::vector<Segment>& segments);

/// Returns the axes whose readings are predicted at sample instants: inertial sensor axes, followed
/// by delayed encoders (encoder_axis).
std::vector<int> find_sampled_axes(const Mechanism& mechanism,
                                   const std::vector<Segment>& segments);

/// Returns the name of a sensor axis, such as "imu1.gyro_z".
std::string sensor_axis_name(const Mechanism& mechanism, int axis);

/// Returns the unit of a sensor axis: rad/s, m/s², N·m, N or m.
std::string sensor_axis_unit(const Mechanism& mechanism, int axis);

/// The instants at which delayed sensors measured the readings of a segment: the time stamps of the
/// samples minus the delay of the sensor. Sensors with equal fixed delays share instants.
class SensorSampleInstants {
 public:
  /// A reading: the index of its sample in the recording, and the index of its sample instant in
  /// `times()`.
  struct Reading {
    int sample, instant;
  };

  /// Computes all sample instants. Excludes a reading if some admissible value of a free delay
  /// would move its instant outside the segment. Encoders have an instant for every sample that is
  /// not excluded, with or without a reading.
  /// @param axes  as returned by find_sampled_axes
  SensorSampleInstants(const Mechanism& mechanism, const Segment& segment,
                       const std::vector<int>& axes);

  /// Returns the sample instants in ascending order, as times since the segment's first sample [s].
  const std::vector<double>& times() const { return times_; }
  /// Returns the readings of a sensor axis in the order of their instants.
  /// @param axis  index into `axes`
  const std::vector<Reading>& readings(int axis) const { return readings_[axis]; }
  /// Returns the index of the first sample instant at `time` or later.
  int first_instant_from(double time) const;

 private:
  std::vector<double> times_;
  std::vector<std::vector<Reading>> readings_;
};

/// Returns whether any of the sensor axes has a free delay, so that its sample instants change in a
/// fit.
bool has_free_delay(const Mechanism& mechanism, const std::vector<int>& axes);

/// Removes the readings of delayed encoders that SensorSampleInstants excludes, and returns the
/// segment.
Segment remove_excluded_readings(const Mechanism& mechanism, Segment segment);

}  // namespace estimator
