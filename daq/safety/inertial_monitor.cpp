#include "daq/safety/inertial_monitor.hpp"

#include <algorithm>
#include <cstdlib>

namespace daq {
namespace {

std::size_t at(InertialFault fault) noexcept { return static_cast<std::size_t>(fault); }

}  // namespace

InertialMonitor::InertialMonitor(const std::vector<InertialLimits>& limits)
    : count_(std::min<std::size_t>(limits.size(), INERTIAL_SENSORS_MAX)) {
  for (const std::size_t i : indices(count_)) {
    const InertialLimits& own = limits[i];
    bounds_[i] = {
        own.stops_run, {own.missing_s_max, own.stuck_s_max, own.saturated_s_max}, own.counts_max};
  }
}

bool InertialMonitor::is_saturated(std::size_t sensor, const SensorState& memory) const noexcept {
  for (std::size_t axis = 0; axis < INERTIAL_AXES; ++axis) {
    const int most = bounds_[sensor].counts_max[axis];
    const int counts = memory.counts[axis];
    if (most > 0 && counts != INERTIAL_NOT_READ && std::abs(counts) >= most) return true;
  }
  return false;
}

void InertialMonitor::add(const Observation& now,
                          const firmware_iface::InertialReadings& reading) noexcept {
  const double since_s = started_ ? now.time_s - last_time_s_ : 0.0;
  bool moves = false;
  for (std::size_t j = 0; j < kJointsMax; ++j) {
    moves = moves || (started_ && now.joint[j].angle_rad != last_angle_rad_[j]);
    last_angle_rad_[j] = now.joint[j].angle_rad;
  }
  for (const std::size_t i : indices(count_)) {
    SensorState& memory = memory_[i];
    double& missing_s = memory.lasting_s[at(InertialFault::kMissing)];
    double& stuck_s = memory.lasting_s[at(InertialFault::kStuck)];
    double& saturated_s = memory.lasting_s[at(InertialFault::kSaturated)];
    const bool is_read = reading.has(static_cast<int>(i));
    const bool is_new = is_read && (!memory.seen || memory.counts != reading.counts[i]);
    if (is_read) memory.counts = reading.counts[i];
    memory.seen = memory.seen || is_read;
    missing_s = is_read ? 0.0 : missing_s + since_s;
    if (is_new) stuck_s = 0.0;
    if (!is_new && moves && memory.seen) stuck_s += since_s;
    // Between readings the last one counts.
    saturated_s = memory.seen && is_saturated(i, memory) ? saturated_s + since_s : 0.0;
  }
  last_time_s_ = now.time_s;
  started_ = true;
}

// Written such that a NaN on either side is a fault.
bool InertialMonitor::has(std::size_t sensor, InertialFault fault,
                          DetectedFault& finding) const noexcept {
  const double lasting_s = memory_[sensor].lasting_s[at(fault)];
  const double longest_s = bounds_[sensor].longest_s[at(fault)];
  finding = {fault, lasting_s, longest_s};
  return !(lasting_s <= longest_s);
}

}  // namespace daq
