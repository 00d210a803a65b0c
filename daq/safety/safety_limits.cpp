#include "daq/safety/safety_limits.hpp"

#include <algorithm>
#include <cmath>

namespace daq {

std::vector<std::string> find_limit_errors(const SafetyLimits& limits) {
  std::vector<std::string> found;
  const auto require = [&](bool holds, const std::string& sentence) {
    if (!holds) found.push_back(sentence);
  };
  const auto require_positive = [&](double value, const std::string& field) {
    require(value > 0.0 && std::isfinite(value), field + " must be a positive number");
  };
  for (const MotorLimits& motor : limits.motor) {
    const std::string joint = "motor \"" + motor.joint + "\": ";
    require_positive(motor.command_max, joint + "command_max");
    require_positive(motor.command_slew_per_s_max, joint + "command_slew_per_s_max");
  }
  require(limits.motor.size() <= kMotorsMax,
          "motor: at most " + std::to_string(kMotorsMax) + " motors");
  require_positive(limits.staleness_s_max, "staleness_ms_max");
  require(!limits.joint.empty(), "joint: needs limits of at least one joint");
  require(limits.joint.size() <= kJointsMax,
          "joint: at most " + std::to_string(kJointsMax) + " joints");
  for (const JointLimits& joint : limits.joint) {
    const std::string who = "joint \"" + joint.joint + "\": ";
    const std::string range = joint.slides ? "position_m" : "angle_rad";
    require(std::isfinite(joint.angle_rad_min) && std::isfinite(joint.angle_rad_max),
            who + range + "_min and " + range + "_max must be finite numbers");
    require(joint.angle_rad_min < joint.angle_rad_max,
            who + range + "_min must be below " + range + "_max; give both");
    require_positive(joint.speed_rad_per_s_max,
                     who + (joint.slides ? "speed_m_per_s_max" : "speed_rad_per_s_max"));
    require_positive(joint.jump_rad_max, who + (joint.slides ? "jump_m_max" : "jump_rad_max"));
    require_positive(joint.missing_s_max, who + "missing_ms_max");
  }
  for (std::size_t j = 0; j < limits.motion.size(); ++j) {
    if (limits.motion[j].motor < 0) continue;
    const std::string stall = "joint \"" + limits.joint[j].joint + "\": stall { ";
    require_positive(limits.motion[j].stall_command, stall + "command }");
    require_positive(limits.motion[j].stall_time_s, stall + "time_s }");
  }
  require(limits.inertial.size() <= INERTIAL_SENSORS_MAX,
          "inertial: at most " + std::to_string(INERTIAL_SENSORS_MAX) + " sensors");
  return found;
}

SafetyMonitor::SafetyMonitor(const SafetyLimits& limits)
    : joint_count_(std::min(limits.joint.size(), kJointsMax)),
      motor_count_(std::min(limits.motor.size(), kMotorsMax)),
      staleness_s_max_(limits.staleness_s_max),
      unstored_s_max_(limits.unstored_s_max) {
  for (const std::size_t m : indices(motor_count_)) {
    command_bounds_[m] = {limits.motor[m].command_max, limits.motor[m].command_slew_per_s_max};
  }
  for (const std::size_t j : indices(joint_count_)) {
    const JointLimits& joint = limits.joint[j];
    bounds_[j] = {joint.angle_rad_min, joint.angle_rad_max, joint.speed_rad_per_s_max,
                  joint.jump_rad_max, joint.missing_s_max};
  }
}

void SafetyMonitor::trip(TripCause cause, double time_s, double value, double limit,
                         std::uint8_t index) noexcept {
  if (is_tripped()) return;
  trip_ = {cause, index, time_s, value, limit, pause_s_};
}

// The pause is checked first, because a paused computer stores nothing either.
void SafetyMonitor::trip_on_host_pause(double time_s, double pause_s, double unstored_s) noexcept {
  constexpr double kRemembered_s = 1.0;
  if (!(pause_s <= pause_s_) || !(time_s - pause_time_s_ <= kRemembered_s)) {
    pause_s_ = pause_s;
    pause_time_s_ = time_s;
  }
  if (!(pause_s <= staleness_s_max_)) {
    trip(TripCause::kHostPaused, time_s, pause_s, staleness_s_max_);
  }
  if (!(unstored_s <= unstored_s_max_)) {
    trip(TripCause::kRecordingStalled, time_s, unstored_s, unstored_s_max_);
  }
}

// All comparisons of this class are written such that a NaN on either side trips.
void SafetyMonitor::check_joint(std::size_t index, const Observation& now) noexcept {
  const JointState& joint = now.joint[index];
  const JointBounds& bounds = bounds_[index];
  LastJointReading& memory = memory_[index];
  const auto trip_joint = [&](TripCause cause, double value, double limit) {
    if (is_tripped()) return;
    trip_ = {cause, static_cast<std::uint8_t>(index), now.time_s, value, limit};
  };

  if (!joint.valid) {
    const double missing_s = now.time_s - memory.valid_time_s;
    if (!(missing_s <= bounds.missing_s_max)) {
      trip_joint(TripCause::kMissingChannel, missing_s, bounds.missing_s_max);
    }
    return;
  }
  // After a gap the joint may have moved as far as its speed limit allows, which widens the bound.
  // Between consecutive samples the bound is jump_rad_max.
  const double travel_rad = bounds.speed_rad_per_s_max * (now.time_s - memory.valid_time_s);
  const double jump_rad = std::abs(joint.angle_rad - memory.angle_rad);
  const double jump_rad_max = std::max(bounds.jump_rad_max, travel_rad);
  if (memory.seen && !(jump_rad <= jump_rad_max)) {
    trip_joint(TripCause::kEncoderJump, jump_rad, jump_rad_max);
  }
  if (!(joint.angle_rad >= bounds.angle_rad_min)) {
    trip_joint(TripCause::kAngle, joint.angle_rad, bounds.angle_rad_min);
  }
  if (!(joint.angle_rad <= bounds.angle_rad_max)) {
    trip_joint(TripCause::kAngle, joint.angle_rad, bounds.angle_rad_max);
  }
  const double speed = std::abs(joint.speed_rad_per_s);
  if (!(speed <= bounds.speed_rad_per_s_max)) {
    trip_joint(TripCause::kSpeed, speed, bounds.speed_rad_per_s_max);
  }
  memory = {joint.angle_rad, now.time_s, true};
}

// Time must increase between samples. A clock that stops or goes back would hide the age of the
// angles, and the run would not end.
void SafetyMonitor::check_staleness(const Observation& now) noexcept {
  const double since_s = started_ ? now.time_s - last_time_s_ : 0.0;
  const bool fresh = started_ ? since_s > 0.0 : std::isfinite(now.time_s);
  if (!fresh || !(since_s <= staleness_s_max_)) {
    trip(TripCause::kStaleSample, now.time_s, since_s, staleness_s_max_);
  }
}

// Without this check, NaN limits would allow every request.
double SafetyMonitor::clamp(std::size_t motor, const Observation& now, double requested) noexcept {
  const double since_s = started_ ? now.time_s - last_time_s_ : 0.0;
  const double most = command_bounds_[motor].command_max;
  const double slew = command_bounds_[motor].command_slew_per_s_max * since_s;
  if (!(slew >= 0.0) || !(most >= 0.0) || !std::isfinite(requested)) {
    trip(TripCause::kCommandNotFinite, now.time_s, requested, most,
         static_cast<std::uint8_t>(motor));
    return 0.0;
  }
  const double last = last_commands_[motor];
  return std::clamp(std::clamp(requested, -most, most), last - slew, last + slew);
}

MotorCommands SafetyMonitor::limit_commands(const Observation& now,
                                            const MotorCommands& requested) noexcept {
  if (!started_) {
    for (LastJointReading& memory : memory_) memory.valid_time_s = now.time_s;
  }
  check_staleness(now);
  for (const std::size_t j : indices(joint_count_)) check_joint(j, now);
  MotorCommands commands{};
  for (const std::size_t m : indices(motor_count_)) commands[m] = clamp(m, now, requested[m]);
  if (is_tripped()) commands = {};
  last_commands_ = commands;
  last_time_s_ = now.time_s;
  started_ = true;
  return commands;
}

}  // namespace daq
