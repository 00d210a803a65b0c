#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Time by which a motor's control acts later than recorded.
struct ControlDelay {
  double value = 0.0;  ///< [s]
  bool free = false;   ///< whether derivatives along it are wanted
};

/// Recorded controls of one segment as an integrator wants them: held between samples, acting later
/// by each motor's delay, cut into steps and, where they jump, within a step. On each of these
/// stretches a line stands for a motor's control: the one that has the mean and the first moment of
/// the held signal, so that the stretch ends where the signal itself would have taken it, to third
/// order. A line across a jump would pull a joint at rest the wrong way first.
class HeldControls {
 public:
  HeldControls() = default;

  /// @param segment  with controls, samples × motors
  /// @param edges    of the steps, from the segment's first sample on: rising from 0 [s]
  /// @param delays   one a motor
  HeldControls(const Segment& segment, const std::vector<double>& edges,
               const std::vector<ControlDelay>& delays);

  /// Stretches of a step, without gaps: from `first(step)` to before `first(step + 1)`.
  int first(int step) const { return first_[static_cast<std::size_t>(step)]; }
  /// From the segment's first sample [s].
  double begin(int stretch) const { return begin_[static_cast<std::size_t>(stretch)]; }
  double end(int stretch) const { return begin_[static_cast<std::size_t>(stretch) + 1]; }
  /// Motors whose control jumps where the stretch begins, at an instant that moves with a free
  /// delay; in the order of their cuts.
  const std::vector<int>& jumps(int stretch) const;

  /// Control where the stretch begins, and what it grows by until it ends.
  double value(int stretch, int motor) const { return line_[at(stretch, motor)]; }
  double rise(int stretch, int motor) const { return line_[at(stretch, motor) + 1]; }
  /// Their derivatives along the motor's delay at a given instant, zero unless it is free [1/s].
  double value_slope(int stretch, int motor) const { return slope(stretch, motor, 0); }
  double rise_slope(int stretch, int motor) const { return slope(stretch, motor, 1); }

 private:
  struct Jump {
    int stretch;
    std::vector<int> motors;
  };
  std::size_t at(int stretch, int motor) const {
    return 2 * (static_cast<std::size_t>(stretch) * motors_ + static_cast<std::size_t>(motor));
  }
  double slope(int stretch, int motor, std::size_t part) const {
    return slope_.empty() ? 0.0 : slope_[at(stretch, motor) + part];
  }
  void draw_line(const Segment& segment, const std::vector<ControlDelay>& delays, double begin,
                 double end, const std::vector<int>& begin_motors,
                 const std::vector<int>& end_motors);

  std::size_t motors_ = 0;
  std::vector<double> positions_;  // of the controls, see average_held
  std::vector<int> first_;         // of each step, and one past the last
  std::vector<double> begin_;      // of each stretch, and the end of the last
  std::vector<double> line_;       // stretches × motors × (value, rise)
  std::vector<double> slope_;      // the same along the delays; empty where none is free
  std::vector<Jump> jumps_;        // by stretch, rising
};

}  // namespace estimator
