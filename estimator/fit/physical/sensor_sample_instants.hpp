#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Axes of inertial sensors, not held out, with readings in any segment: sensor · kAxes + axis.
std::vector<int> sensed_axes(const Mechanism& mechanism, const std::vector<Segment>& segments);

/// The same, followed by the delayed encoders (encoder_axis).
std::vector<int> sampled_axes(const Mechanism& mechanism, const std::vector<Segment>& segments);

/// Name of an axis, such as "imu1.gyro_z".
std::string inertial_axis_name(const Mechanism& mechanism, int axis);

/// Unit of an axis: rad/s or m/s²; N·m or N for moments and forces; m for positions.
std::string inertial_axis_unit(const Mechanism& mechanism, int axis);

/// Sample instants of a segment's readings: the delay before the samples with which they were
/// recorded. Sensors with the same fixed delay share instants.
class SensorSampleInstants {
 public:
  /// A reading and its sample instant.
  struct Reading {
    int sample, look;
  };

  /// Excludes readings whose instant may be outside the segment for some admissible value of a free
  /// delay. An encoder has an instant for every other sample, read or not.
  /// @param axes  as from sampled_axes
  SensorSampleInstants(const Mechanism& mechanism, const Segment& segment,
                       const std::vector<int>& axes);

  /// Sample instants from the segment's first sample on, ascending [s].
  const std::vector<double>& times() const { return times_; }
  /// Readings of an axis, by its index in `axes`, with ascending instants.
  const std::vector<Reading>& readings(int axis) const {
    return readings_[static_cast<std::size_t>(axis)];
  }
  /// Index of the first instant at `time` or later.
  int first_from(double time) const;

 private:
  std::vector<double> times_;
  std::vector<std::vector<Reading>> readings_;
};

/// Whether any of the axes has a free delay, so that its instants change.
bool instants_vary(const Mechanism& mechanism, const std::vector<int>& axes);

/// A copy without the excluded readings of delayed encoders.
Segment without_early_readings(const Mechanism& mechanism, Segment segment);

}  // namespace estimator
