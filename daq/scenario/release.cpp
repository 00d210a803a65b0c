#include "daq/scenario/release.hpp"

#include <cmath>

namespace daq {
namespace {

// Time for which a hand holds still. A swinging pendulum does not stay near one angle that long.
constexpr double kHeldTime_s = 0.5;
constexpr double kHeldSpeed_rad_per_s = 0.5;
constexpr double kHeldSpeed_m_per_s = 0.05;

}  // namespace

bool Release::is_held(const JointState& joint) const noexcept {
  const double held = settings_.held_angle_rad;
  const double distance =
      slides(settings_.joint) ? joint.angle_rad - held : wrapped_difference(joint.angle_rad, held);
  return joint.valid && std::abs(distance) <= settings_.held_tolerance_rad;
}

bool Release::is_at_rest(const ScenarioInput& now) const noexcept {
  for (std::size_t j = 0; j < settings_.joint_count; ++j) {
    const double slower = slides(j) ? settings_.rest_speed_m_per_s : settings_.rest_speed_rad_per_s;
    const JointState& joint = now.joint[j];
    if (!(joint.valid && std::abs(joint.speed_rad_per_s) < slower)) return false;
  }
  return true;
}

double Release::command(const ScenarioInput& now) noexcept {
  const JointState& joint = now.joint[settings_.joint];
  const auto lasted = [&](bool condition, double wanted_s) {
    if (!condition) since_s_ = -1.0;
    if (condition && since_s_ < 0.0) since_s_ = now.time_s;
    return condition && now.time_s - since_s_ >= wanted_s;
  };
  switch (phase_) {
    case Phase::kWaitingForHold:
      if (lasted(is_held(joint) &&
                     std::abs(joint.speed_rad_per_s) <
                         (slides(settings_.joint) ? kHeldSpeed_m_per_s : kHeldSpeed_rad_per_s),
                 kHeldTime_s)) {
        phase_ = Phase::kWaitingForRelease;
      }
      break;
    case Phase::kWaitingForRelease:
      if (joint.valid && !is_held(joint)) {
        phase_ = Phase::kRunning;
        since_s_ = -1.0;
      }
      break;
    case Phase::kRunning:
      if (waits_for_rest() && lasted(is_at_rest(now), settings_.rest_time_s)) {
        phase_ = Phase::kFinished;
      }
      break;
    case Phase::kFinished:
      break;
  }
  return 0.0;
}

std::vector<std::string> Release::faults() const {
  std::vector<std::string> found;
  if (settings_.has_operator && !(settings_.held_tolerance_rad > 0.0)) {
    found.push_back(slides(settings_.joint) ? "release.held_tolerance_m must be positive"
                                            : "release.held_tolerance_rad must be positive");
  }
  if (!(settings_.rest_speed_rad_per_s >= 0.0)) {
    found.push_back("release.rest_speed_rad_per_s must not be negative");
  }
  if (!(settings_.rest_speed_m_per_s >= 0.0)) {
    found.push_back("release.rest_speed_m_per_s must not be negative");
  }
  if (!(settings_.rest_time_s >= 0.0)) found.push_back("release.rest_time_s must not be negative");
  return found;
}

}  // namespace daq
