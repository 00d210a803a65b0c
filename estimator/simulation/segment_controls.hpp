#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Delay between the recorded control of a motor and its effect.
struct ControlDelay {
  double value = 0.0;  ///< [s]
  bool free = false;   ///< whether derivatives with respect to it are needed
};

/// Recorded controls of one segment, prepared for an integrator. They are held between samples,
/// delayed per motor, and divided into steps. A step is divided into substeps where a control
/// jumps. Within a substep each control is replaced by a line with the mean and first moment of the
/// held signal, so that the end state is correct to third order. A line across a jump would first
/// pull a joint at rest in the wrong direction.
class SegmentControls {
 public:
  SegmentControls() = default;

  /// @param segment  with controls, samples × motors
  /// @param edges    of the steps, from the segment's first sample on: ascending from 0 [s]
  /// @param delays   one per motor
  SegmentControls(const Segment& segment, const std::vector<double>& edges,
                  const std::vector<ControlDelay>& delays);

  /// Substeps of a step, without gaps: from `first(step)` to before `first(step + 1)`.
  int first(int step) const { return first_[static_cast<std::size_t>(step)]; }
  /// Time from the segment's first sample [s].
  double begin(int substep) const { return begin_[static_cast<std::size_t>(substep)]; }
  double end(int substep) const { return begin_[static_cast<std::size_t>(substep) + 1]; }
  /// Motors whose control jumps at the begin of the substep at an instant that depends on a free
  /// delay, in the order of the jumps.
  const std::vector<int>& jumps(int substep) const;

  /// Control at the begin of the substep, and its increase until the end.
  double value(int substep, int motor) const { return line_[at(substep, motor)]; }
  double rise(int substep, int motor) const { return line_[at(substep, motor) + 1]; }
  /// Their derivatives by the motor's delay at a fixed instant; zero unless it is free [1/s].
  double value_sensitivity(int substep, int motor) const { return slope(substep, motor, 0); }
  double rise_sensitivity(int substep, int motor) const { return slope(substep, motor, 1); }

 private:
  struct Jump {
    int substep;
    std::vector<int> motors;
  };
  std::size_t at(int substep, int motor) const {
    return 2 * (static_cast<std::size_t>(substep) * motors_ + static_cast<std::size_t>(motor));
  }
  double slope(int substep, int motor, std::size_t part) const {
    return slope_.empty() ? 0.0 : slope_[at(substep, motor) + part];
  }
  void fit_line(const Segment& segment, const std::vector<ControlDelay>& delays, double begin,
                double end, const std::vector<int>& begin_motors,
                const std::vector<int>& end_motors);

  std::size_t motors_ = 0;
  std::vector<double> positions_;  // of the controls, see average_held
  std::vector<int> first_;         // of each step, and one past the last
  std::vector<double> begin_;      // of each substep, and the end of the last
  std::vector<double> line_;       // substeps × motors × (value, rise)
  std::vector<double> slope_;      // derivatives of the same by the delays; empty if none is free
  std::vector<Jump> jumps_;        // by substep, ascending
};

}  // namespace estimator
