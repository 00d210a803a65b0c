#include "daq/safety/joint_tracker.hpp"

namespace daq {

double JointTracker::add(double time_s, double angle_rad) noexcept {
  if (count_ > 0) {
    const Entry& oldest = entries_[count_ < kWindow ? 0 : count_ % kWindow];
    speed_rad_per_s_ = (angle_rad - oldest.angle_rad) / (time_s - oldest.time_s);
  }
  entries_[count_ % kWindow] = {time_s, angle_rad};
  ++count_;
  return speed_rad_per_s_;
}

}  // namespace daq
