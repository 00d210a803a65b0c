#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Axes of inertial sensors that any segment has readings of: sensor · kAxes + axis, rising.
std::vector<int> sensed_axes(const Mechanism& mechanism, const std::vector<Segment>& segments);

/// Name of an axis, such as "imu1.gyro_z".
std::string inertial_axis_name(const Mechanism& mechanism, int axis);

/// rad/s or m/s²; of moments and forces N·m or N; of places m.
std::string inertial_axis_unit(const Mechanism& mechanism, int axis);

/// When a segment's inertial readings are of: a delay before the samples that they came with.
/// Sensors of one delay that is held are looked at together.
class InertialLooks {
 public:
  /// A reading that a look is for.
  struct Reading {
    int sample, look;
  };

  /// Readings whose look would lie outside the segment, for any value that a free delay may take,
  /// are left out.
  /// @param axes  as sensed_axes gives them
  InertialLooks(const Mechanism& mechanism, const Segment& segment, const std::vector<int>& axes);

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

/// Whether any inertial sensor's delay is estimated, so that its looks move.
bool looks_move(const Mechanism& mechanism);

}  // namespace estimator
