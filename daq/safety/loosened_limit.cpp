#include "daq/safety/loosened_limit.hpp"

#include <vector>

#include "proto/notation/number_format.hpp"

namespace daq {
namespace {

constexpr double kToMilliseconds = 1e3;

/// One number of the safety section, in the two versions of the limits.
struct ComparedLimit {
  std::string name;  ///< field and its subject
  double present, before;
  bool is_lower_bound = false;

  bool is_loosened() const {
    return is_lower_bound ? !(present >= before) : !(present <= before);
  }
};

std::string of_joint(const JointLimits& limits) { return " of joint \"" + limits.joint + "\""; }
std::string of_sensor(const InertialLimits& limits) {
  return " of inertial sensor \"" + limits.sensor + "\"";
}

void add_joint(const JointLimits& present, const JointLimits& before,
               std::vector<ComparedLimit>& all) {
  const std::string of = of_joint(present);
  const bool slides = present.slides;
  all.push_back({(slides ? "position_m_min" : "angle_rad_min") + of, present.angle_rad_min,
                 before.angle_rad_min, true});
  all.push_back({(slides ? "position_m_max" : "angle_rad_max") + of, present.angle_rad_max,
                 before.angle_rad_max});
  all.push_back({(slides ? "speed_m_per_s_max" : "speed_rad_per_s_max") + of,
                 present.speed_rad_per_s_max, before.speed_rad_per_s_max});
  all.push_back(
      {(slides ? "jump_m_max" : "jump_rad_max") + of, present.jump_rad_max, before.jump_rad_max});
  all.push_back({"missing_ms_max" + of, kToMilliseconds * present.missing_s_max,
                 kToMilliseconds * before.missing_s_max});
}

void add_inertial(const InertialLimits& present, const InertialLimits& before,
                  std::vector<ComparedLimit>& all) {
  if (!before.stops_run) return;  // its faults ended no run before
  const auto add = [&](const char* field, double is, double was) {
    all.push_back({field + of_sensor(present), kToMilliseconds * is, kToMilliseconds * was});
  };
  add("missing_ms_max", present.missing_s_max, before.missing_s_max);
  add("stuck_ms_max", present.stuck_s_max, before.stuck_s_max);
  add("saturated_ms_max", present.saturated_s_max, before.saturated_s_max);
}

/// Returns the first check of `before` that `present` lacks, as find_loosened_limit() does.
std::string find_omitted_check(const SafetyLimits& present, const SafetyLimits& before) {
  for (std::size_t j = 0; j < present.motion.size(); ++j) {
    if (present.motion[j].is_unaffected && !before.motion[j].is_unaffected) {
      return "may_stand_still" + of_joint(present.joint[j]) + " was set";
    }
  }
  for (std::size_t i = 0; i < present.inertial.size(); ++i) {
    const InertialLimits &now = present.inertial[i], &then = before.inertial[i];
    if (!then.stops_run) continue;
    if (!now.stops_run) return "the entry" + of_sensor(now) + " was removed";
    // The default of an omitted limit depends on the unit.
    if ((now.missing_s_max == 0.0) != (then.missing_s_max == 0.0)) {
      return "missing_ms_max" + of_sensor(now) + " was changed";
    }
  }
  return "";
}

}  // namespace

std::string find_loosened_limit(const SafetyLimits& present, const SafetyLimits& before) {
  if (present.joint.size() != before.joint.size() || present.motor.size() != before.motor.size() ||
      present.motion.size() != before.motion.size() ||
      present.inertial.size() != before.inertial.size()) {
    return "the joints, motors or sensors of the safety section changed";
  }
  if (std::string omitted = find_omitted_check(present, before); !omitted.empty()) return omitted;
  std::vector<ComparedLimit> all;
  for (std::size_t m = 0; m < present.motor.size(); ++m) {
    const std::string of = " of motor \"" + present.motor[m].joint + "\"";
    all.push_back(
        {"command_max" + of, present.motor[m].command_max, before.motor[m].command_max});
    all.push_back({"command_slew_per_s_max" + of, present.motor[m].command_slew_per_s_max,
                   before.motor[m].command_slew_per_s_max});
  }
  all.push_back({"staleness_ms_max", kToMilliseconds * present.staleness_s_max,
                 kToMilliseconds * before.staleness_s_max});
  for (std::size_t j = 0; j < present.joint.size(); ++j) {
    add_joint(present.joint[j], before.joint[j], all);
  }
  for (std::size_t j = 0; j < present.motion.size(); ++j) {
    const std::string of = of_joint(present.joint[j]);
    const JointDrive &now = present.motion[j], &then = before.motion[j];
    all.push_back({"stall { command }" + of, now.stall_command, then.stall_command});
    all.push_back({"stall { time_s }" + of, now.stall_time_s, then.stall_time_s});
  }
  for (std::size_t i = 0; i < present.inertial.size(); ++i) {
    add_inertial(present.inertial[i], before.inertial[i], all);
  }
  for (const ComparedLimit& limit : all) {
    if (!limit.is_loosened()) continue;
    return limit.name + " was loosened from " + notation::format_number(limit.before, 6) + " to " +
           notation::format_number(limit.present, 6);
  }
  return "";
}

}  // namespace daq
