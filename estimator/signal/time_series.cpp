#include "estimator/signal/time_series.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/math/angle_wrapping.hpp"

namespace estimator {

int Segment::first_sample_at_or_after(double time) const {
  if (times.empty()) {
    return std::min(static_cast<int>(std::ceil(time / period - kSampleTolerance)), sample_count());
  }
  const auto found = std::ranges::lower_bound(times, time - kSampleTolerance * period);
  return static_cast<int>(found - times.begin());
}

Segment segment_rows(const Segment& segment, int first, int count) {
  Segment part;
  part.start = segment.start + segment.time(first);
  part.recording_start = segment.start - segment.time_in_recording();
  part.period = segment.period;
  part.angles = segment.angles.middleRows(first, count);
  part.controls = segment.controls.middleRows(first, count);
  part.control_noise = segment.control_noise;
  if (segment.inertial.rows() > 0) part.inertial = segment.inertial.middleRows(first, count);
  if (segment.contacts.rows() > 0) part.contacts = segment.contacts.middleRows(first, count);
  if (segment.held_out.rows() > 0) part.held_out = segment.held_out.middleRows(first, count);
  if (!segment.times.empty()) {
    for (int k = first; k < first + count; ++k) {
      part.times.push_back(segment.time(k) - segment.time(first));
    }
  }
  part.is_first_of_recording = segment.is_first_of_recording && first == 0;
  part.absent_bodies = segment.absent_bodies;
  if (first == 0) part.assembled = segment.assembled;
  for (EncoderShift shift : segment.shifts) {
    if (shift.sample >= first + count) continue;
    shift.sample = std::max(shift.sample - first, 0);
    part.shifts.push_back(shift);
  }
  return part;
}

Eigen::VectorXd unwrap(const Eigen::Ref<const Eigen::VectorXd>& angles) {
  Eigen::VectorXd unwrapped = angles;
  bool observed = false;
  double turns = 0.0;  // full turns added to the last observed sample
  double last = 0.0;   // last observed sample as given
  for (double& angle : unwrapped) {
    if (std::isnan(angle)) continue;
    const double raw = angle;
    if (observed) turns -= removed_full_turns(raw - last);
    angle = raw + turns * kWholeTurn;
    last = raw;
    observed = true;
  }
  return unwrapped;
}

}  // namespace estimator
