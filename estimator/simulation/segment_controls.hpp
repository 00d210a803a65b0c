#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Delay between the recorded control of a motor and its effect; or the control that is the time.
struct ControlDelay {
  double value = 0.0;  ///< [s]
  bool free = false;   ///< whether derivatives with respect to the delay are needed
  bool is_time = false;  ///< whether this control is the time since the start of the recording
};

/// Recorded controls and contacts of one segment, prepared for an integrator. They are constant
/// between samples, and each motor has its own delay. Time steps are divided into substeps at the
/// jumps of controls and where contacts begin or end. In a substep, a straight line with the same
/// mean and first moment replaces each control, so the end state is correct to third order. A line
/// across a jump could initially pull a joint at rest in the wrong direction.
class SegmentControls {
 public:
  SegmentControls() = default;

  /// @param segment  recorded samples with controls, samples × motors
  /// @param edges    ascending limits of the time steps, from 0 at the segment's first sample [s]
  /// @param delays   one per motor, and one for the time if the motion depends on it
  SegmentControls(const Segment& segment, const std::vector<double>& edges,
                  const std::vector<ControlDelay>& delays);

  /// Returns the index of the first substep of a time step. The time step ends before the substep
  /// `first(step + 1)`.
  int first(int step) const { return first_[step]; }
  /// Return the limits of a substep, as times from the segment's first sample [s].
  double begin(int substep) const { return begin_[substep]; }
  double end(int substep) const { return begin_[static_cast<std::size_t>(substep) + 1]; }
  /// Returns the motors whose control jumps at the begin of a substep, in the order of the jumps.
  /// Only motors with an estimated delay are listed.
  const std::vector<int>& jumps(int substep) const;

  /// Return a motor's control at the start of a substep, and its increase until the end of the
  /// substep.
  double value(int substep, int motor) const { return line_[at(substep, motor)]; }
  double rise(int substep, int motor) const { return line_[at(substep, motor) + 1]; }
  /// Returns whether a contact with the ground is active in a substep.
  bool is_active(int substep, int contact) const {
    return !active_.empty() && active_[static_cast<std::size_t>(substep)][contact] != 0.0;
  }
  /// Returns whether a contact begins with a substep, or is active in the first substep of an
  /// interval.
  /// @param first  first substep of the interval
  bool has_touch_down(int substep, int first) const;

  /// Return the derivatives of `value` and `rise` with respect to the motor's delay at a fixed
  /// instant [1/s]. They are zero if the delay is not estimated.
  double value_delay_derivative(int substep, int motor) const { return slope(substep, motor, 0); }
  double rise_delay_derivative(int substep, int motor) const { return slope(substep, motor, 1); }

 private:
  struct ControlJump {
    int substep;
    std::vector<int> motors;
  };
  std::size_t at(int substep, int motor) const {
    return 2 * (static_cast<std::size_t>(substep) * motors_ + static_cast<std::size_t>(motor));
  }
  double slope(int substep, int motor, std::size_t part) const {
    return slope_.empty() ? 0.0 : slope_[at(substep, motor) + part];
  }
  void fit_control_line(const Segment& segment, const std::vector<ControlDelay>& delays,
                        double begin, double end, const std::vector<int>& begin_motors,
                        const std::vector<int>& end_motors);

  std::size_t motors_ = 0;
  std::vector<double> positions_;   // of the controls, see average_held_control
  std::vector<int> first_;          // of each step, and one past the last
  std::vector<double> begin_;       // of each substep, and the end of the last
  std::vector<double> line_;        // substeps × motors × (value, rise)
  std::vector<double> slope_;       // derivatives of the same by the delays; empty if none is free
  std::vector<ControlJump> jumps_;  // by substep, ascending
  std::vector<Eigen::RowVectorXd> active_;  // contacts of each substep; empty without contacts
};

}  // namespace estimator
