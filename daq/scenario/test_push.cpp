#include "daq/scenario/test_push.hpp"

#include <algorithm>
#include <cmath>

namespace daq {

void TestPush::enter(Stage stage, double time_s) noexcept {
  stage_ = stage;
  since_s_ = time_s;
}

// An angle that is NaN counts as motion.
bool TestPush::has_moved(const ScenarioInput& now) const noexcept {
  const std::size_t count = std::min({settings_.joint_count, now.joint.size(), kJointsMax});
  for (std::size_t j = 0; j < count; ++j) {
    const double limit = j == settings_.joint ? settings_.motion_rad : settings_.other_motion_rad;
    if (!(std::abs(now.joint[j].angle_rad - start_rad_[j]) < limit)) return true;
  }
  return false;
}

// A slow joint counts rarely: it has stopped if no count has come for a while.
bool TestPush::has_stopped(const ScenarioInput& now) noexcept {
  constexpr double kWithoutCount_s = 0.04;
  const double motion =
      (now.joint[settings_.joint].angle_rad - start_rad_[settings_.joint]) * direction_;
  if (motion > farthest_rad_) {
    farthest_rad_ = motion;
    farthest_s_ = now.time_s;
  }
  return !(now.time_s - farthest_s_ < kWithoutCount_s);
}

double TestPush::command(const ScenarioInput& now) noexcept {
  if (stage_ == Stage::kBegin) {
    const std::size_t count = std::min({settings_.joint_count, now.joint.size(), kJointsMax});
    for (std::size_t j = 0; j < count; ++j) start_rad_[j] = now.joint[j].angle_rad;
    enter(Stage::kPush, now.time_s);
  }
  const double passed_s = now.time_s - since_s_;
  switch (stage_) {
    case Stage::kBegin:
    case Stage::kOver:
      return 0.0;
    case Stage::kPush: {
      if (!has_moved(now) && passed_s < settings_.push_s_max) {
        const double share = settings_.rise_s > 0.0 ? passed_s / settings_.rise_s : 1.0;
        return pushed_command_ = settings_.level * std::min(share, 1.0);
      }
      pushed_s_ = passed_s;
      const double motion = now.joint[settings_.joint].angle_rad - start_rad_[settings_.joint];
      direction_ = motion > 0.0 ? 1.0 : motion < 0.0 ? -1.0 : 0.0;
      farthest_s_ = now.time_s;
      enter(direction_ != 0.0 ? Stage::kBrake : Stage::kRest, now.time_s);
      return stage_ == Stage::kBrake ? -pushed_command_ : 0.0;
    }
    case Stage::kBrake:
      if (passed_s < pushed_s_ && !has_stopped(now)) return -pushed_command_;
      enter(Stage::kRest, now.time_s);
      return 0.0;
    case Stage::kRest:
      if (!(passed_s < settings_.rest_s)) enter(Stage::kOver, now.time_s);
      return 0.0;
  }
  return 0.0;
}

double TestPush::command_peak() const noexcept { return std::abs(settings_.level); }

std::vector<std::string> TestPush::faults() const {
  std::vector<std::string> found;
  if (!(settings_.push_s_max > 0.0)) found.push_back("nudge.push_s_max must be positive");
  if (!(settings_.motion_rad > 0.0)) found.push_back("nudge.motion_rad must be positive");
  return found;
}

}  // namespace daq
