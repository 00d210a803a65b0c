#pragma once

#include <algorithm>

#include "estimator/simulation/interval/interval_motion.hpp"
#include "estimator/simulation/interval/motion_lanes.hpp"

// Functions shared by the integration of an interval and by its derivatives. A segment is the part
// of a substep within which no contact changes.

namespace estimator {

/// Copies the start state of an interval to a lane.
template <int W>
void load_start(MotionLanes<W>& lanes, int lane, const MotionInterval& interval) {
  for (int row = 0; row < 2 * lanes.coordinate_count(); ++row) {
    lanes.state(row)[lane] = interval.start[row];
  }
  if (lanes.loops() == nullptr) return;
  for (int j = 0; j < lanes.joint_count(); ++j) lanes.guess(j)[lane] = interval.guess[j];
}

/// Sets the duration and the controls of a lane for one segment of a substep.
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

/// Returns whether an instant belongs to a segment that ends at `end`, given that all earlier
/// instants have been processed. A segment includes its begin, and only the last one its end.
inline bool is_before_end(const MotionInterval& interval, double time, int substep, double end) {
  const bool is_last =
      substep + 1 == interval.last_substep && !(end < interval.controls->end(substep));
  return is_last || time < end - kSampleTolerance * interval.period;
}

/// Returns whether a sample belongs to a segment that ends at `end` (is_before_end).
inline bool is_within(const MotionInterval& interval, int sample, int substep, double end) {
  return sample < interval.last_sample &&
         is_before_end(interval, interval.time(sample), substep, end);
}

/// Factors of the joint angles and rates at both ends of a smooth segment, for cubic Hermite
/// interpolation of an angle or a rate.
struct HermiteWeights {
  double angle_begin, angle_end;  ///< [-]; for a rate [1/s]
  double rate_begin, rate_end;    ///< [s]; for a rate [-]
};

/// Returns the weights of an angle at `time` after the begin of a segment. With the elapsed
/// fraction x = time/length, the angle is θ₀ + x²(3 − 2x) Δθ + x(1 − x)[(1 − x) v₀ − x v₁] length.
inline HermiteWeights hermite_weights(double time, double length) {
  if (!(length > 0.0)) return {0.0, 1.0, 0.0, 0.0};
  const double x = std::clamp(time / length, 0.0, 1.0);
  const double rest = 1.0 - x, turn = x * x * (3.0 - 2.0 * x);
  return {1.0 - turn, turn, x * rest * rest * length, -x * x * rest * length};
}

/// Returns the weights of a rate, which are the time derivatives of hermite_weights.
inline HermiteWeights hermite_rate_weights(double time, double length) {
  if (!(length > 0.0)) return {0.0, 0.0, 0.0, 1.0};
  const double x = std::clamp(time / length, 0.0, 1.0);
  const double rest = 1.0 - x, turn = 6.0 * x * rest / length;
  return {-turn, turn, rest * (1.0 - 3.0 * x), x * (3.0 * x - 2.0)};
}

}  // namespace estimator
