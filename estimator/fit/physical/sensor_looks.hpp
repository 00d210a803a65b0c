#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Axes of inertial sensors that any segment has readings of: sensor · kAxes + axis, rising; those
/// of withheld sensors are not used.
std::vector<int> sensed_axes(const Mechanism& mechanism, const std::vector<Segment>& segments);

/// The same with the encoders behind them that are late (encoder_axis).
std::vector<int> looked_axes(const Mechanism& mechanism, const std::vector<Segment>& segments);

/// Name of an axis, such as "imu1.gyro_z".
std::string inertial_axis_name(const Mechanism& mechanism, int axis);

/// rad/s or m/s²; of moments and forces N·m or N; of places m.
std::string inertial_axis_unit(const Mechanism& mechanism, int axis);

/// When a segment's readings are of: a delay before the samples that they came with. Sensors of one
/// delay that is held are looked at together.
class SensorLooks {
 public:
  /// A reading that a look is for.
  struct Reading {
    int sample, look;
  };

  /// Readings whose look would lie outside the segment, for any value that a free delay may take,
  /// are left out. An encoder is looked at for every other sample, read or not.
  /// @param axes  as looked_axes gives them
  SensorLooks(const Mechanism& mechanism, const Segment& segment, const std::vector<int>& axes);

  /// From the segment's first sample on, rising [s].
  const std::vector<double>& times() const { return times_; }
  /// Of an axis, by its place among those wanted; looks rising.
  const std::vector<Reading>& readings(int axis) const {
    return readings_[static_cast<std::size_t>(axis)];
  }
  /// Index of the first look from a time on.
  int first_from(double time) const;

 private:
  std::vector<double> times_;
  std::vector<std::vector<Reading>> readings_;
};

/// Whether the delay of any sensor that is looked at is estimated, so that its looks move.
bool looks_move(const Mechanism& mechanism, const std::vector<int>& axes);

/// Without the readings of late encoders that are left out.
Segment without_early_readings(const Mechanism& mechanism, Segment segment);

}  // namespace estimator
