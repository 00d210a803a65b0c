#pragma once

#include <algorithm>

#include "estimator/simulation/interval_motion.hpp"
#include "estimator/simulation/motion_lanes.hpp"

// Functions shared by the values and the derivatives of an interval. A segment is the part of a
// substep along which no contact changes.

namespace estimator {

/// Loads the state at the start of an interval.
template <int W>
void load_start(MotionLanes<W>& lanes, int lane, const MotionInterval& interval) {
  for (int row = 0; row < 2 * lanes.coordinate_count(); ++row) {
    lanes.state(row)[lane] = interval.start[row];
  }
  if (lanes.loops() == nullptr) return;
  for (int j = 0; j < lanes.joint_count(); ++j) lanes.guess(j)[lane] = interval.guess[j];
}

/// Loads length and controls of a segment of a substep.
template <int W>
void load_segment(MotionLanes<W>& lanes, int lane, const SegmentControls& controls, int substep,
                  double begin, double end) {
  lanes.length()[lane] = end - begin;
  const double length = controls.end(substep) - controls.begin(substep);
  const double from = length > 0.0 ? (begin - controls.begin(substep)) / length : 0.0;
  const double share = length > 0.0 ? (end - begin) / length : 0.0;
  for (int m = 0; m < lanes.motor_count(); ++m) {
    const double rise = controls.rise(substep, m), slope = controls.rise_sensitivity(substep, m);
    lanes.control(m)[lane] = controls.value(substep, m) + from * rise;
    lanes.rise(m)[lane] = share * rise;
    lanes.control_slope(m)[lane] = controls.value_sensitivity(substep, m) + from * slope;
    lanes.rise_sensitivity(m)[lane] = share * slope;
  }
}

template <int W>
void load_contacts(MotionLanes<W>& lanes, int lane, const Contacts& contacts) {
  for (std::size_t j = 0; j < contacts.size(); ++j) {
    const auto joint = static_cast<int>(j);
    lanes.slip(joint)[lane] = slip_of(contacts[j]);
    lanes.free(joint)[lane] = is_held(contacts[j]) ? 0.0 : 1.0;
  }
}

/// Whether an instant belongs to a segment that ends at `end`, if all earlier instants have been
/// processed. A segment includes its begin.
inline bool is_before_end(const MotionInterval& interval, double time, int substep, double end) {
  const bool is_last =
      substep + 1 == interval.last_substep && !(end < interval.controls->end(substep));
  return is_last || time < end - kSampleTolerance * interval.period;
}

/// The same for a sample.
inline bool is_within(const MotionInterval& interval, int sample, int substep, double end) {
  return sample < interval.last_sample &&
         is_before_end(interval, interval.time(sample), substep, end);
}

/// Weights of cubic Hermite interpolation between the ends of a smooth segment.
struct HermiteWeights {
  double angle_begin, angle_end;  ///< [-]; for a rate [1/s]
  double rate_begin, rate_end;    ///< [s]; for a rate [-]
};

/// θ₀ + x²(3 − 2x) Δθ + x(1 − x)[(1 − x) v₀ − x v₁] T, x the elapsed fraction of the segment.
inline HermiteWeights hermite_weights(double time, double length) {
  if (!(length > 0.0)) return {0.0, 1.0, 0.0, 0.0};
  const double x = std::clamp(time / length, 0.0, 1.0);
  const double rest = 1.0 - x, turn = x * x * (3.0 - 2.0 * x);
  return {1.0 - turn, turn, x * rest * rest * length, -x * x * rest * length};
}

/// Weights of the rate: their time derivative.
inline HermiteWeights hermite_rate_weights(double time, double length) {
  if (!(length > 0.0)) return {0.0, 0.0, 0.0, 1.0};
  const double x = std::clamp(time / length, 0.0, 1.0);
  const double rest = 1.0 - x, turn = 6.0 * x * rest / length;
  return {-turn, turn, rest * (1.0 - 3.0 * x), x * (3.0 * x - 2.0)};
}

}  // namespace estimator
