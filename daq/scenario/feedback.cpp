#include "daq/scenario/feedback.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace daq {
namespace {

// Time for which a hand holds still. A swinging pendulum does not stay near one angle that long.
constexpr double kHeldTime_s = 0.5;
// Readings that are missing for less time neither end nor begin a hold or a rest.
constexpr double kMissingMax_s = 0.05;
constexpr double kHeldSpeed_rad_per_s = 0.5;
constexpr double kHeldSpeed_m_per_s = 0.05;

// Distance to an end of the range, as a multiple of the motion of a push toward this end: the joint
// moves on while it is braked, and gravity may drive it further.
constexpr double kRoomPerMotion = 4.0;
// The same for a joint that drifts toward an end without a command.
constexpr double kDriftRoomPerMotion = 2.0;
// Smallest share of the motion to which an end of the range reduces it. A smaller motion could be
// one count of noise.
constexpr double kMotionShareMin = 0.125;
// Longest wait for a joint at rest before the next push, as a multiple of the rest.
constexpr double kRestFactorMax = 3.0;
// Motion in one second at the largest speed that counts as rest, as a share of a push's motion.
constexpr double kRestingShare = 0.1;

}  // namespace

double SwingUp::compute_command(const ScenarioInput& now) const noexcept {
  const JointState& pendulum = now.joint[settings_.pendulum];
  if (!pendulum.valid) return 0.0;
  if (now.time_s < settings_.kick_time_s) return settings_.kick_command;

  const double theta = pendulum.angle_rad;
  const double w = pendulum.speed_rad_per_s;
  const double from_upright = wrapped_difference(theta, std::numbers::pi);
  if (std::abs(from_upright) < settings_.stop_angle_rad) return 0.0;

  const double w_0 = 2.0 * std::numbers::pi * settings_.natural_frequency_Hz;
  const double E = 0.5 * (w / w_0) * (w / w_0) - std::cos(theta);
  const double direction = w * std::cos(theta);
  const double sign = direction > 0.0 ? 1.0 : (direction < 0.0 ? -1.0 : 0.0);
  return std::clamp(settings_.energy_gain * (1.0 - E) * sign, -settings_.command_max,
                    settings_.command_max);
}

double SwingUp::command_peak() const noexcept {
  return std::max(settings_.command_max, std::abs(settings_.kick_command));
}

std::vector<std::string> SwingUp::validation_errors() const {
  return unmet(
      {{settings_.energy_gain != 0.0, "swing_up.energy_gain must not be zero"},
       {settings_.command_max > 0.0, "swing_up.command_max must be positive"},
       {settings_.natural_frequency_Hz > 0.0, "swing_up.natural_frequency_hz must be positive"},
       {settings_.stop_angle_rad >= 0.0, "swing_up.stop_angle_rad must not be negative"},
       {settings_.kick_time_s >= 0.0, "swing_up.kick_time_s must not be negative"}});
}

double PositionFeedback::compute_command(const ScenarioInput& now) const noexcept {
  const JointState& joint = now.joint[settings_.joint];
  if (!joint.valid) return 0.0;
  return std::clamp(settings_.proportional_gain * (settings_.setpoint_rad - joint.angle_rad) -
                        settings_.derivative_gain * joint.speed_rad_per_s,
                    -settings_.command_max, settings_.command_max);
}

std::vector<std::string> PositionFeedback::validation_errors() const {
  return unmet({{settings_.proportional_gain != 0.0 || settings_.derivative_gain != 0.0,
                 "position_feedback.proportional_gain must not be zero without a derivative_gain"},
                {settings_.command_max > 0.0, "position_feedback.command_max must be positive"}});
}

bool Release::is_joint_held(const JointState& joint) const noexcept {
  const double held = settings_.held_angle_rad;
  const double distance = is_sliding(settings_.joint) ? joint.angle_rad - held
                                                      : wrapped_difference(joint.angle_rad, held);
  return joint.valid && std::abs(distance) <= settings_.held_tolerance_rad;
}

bool Release::is_at_rest(const ScenarioInput& now) const noexcept {
  for (std::size_t j = 0; j < settings_.joint_count; ++j) {
    const double slower =
        is_sliding(j) ? settings_.rest_speed_m_per_s : settings_.rest_speed_rad_per_s;
    const JointState& joint = now.joint[j];
    if (!(joint.valid && std::abs(joint.speed_rad_per_s) < slower)) return false;
  }
  return true;
}

bool Release::has_complete_readings(const ScenarioInput& now) const noexcept {
  if (phase_ != ScenarioPhase::kRunning) return now.joint[settings_.joint].valid;
  return std::ranges::all_of(now.joint.first(settings_.joint_count), &JointState::valid);
}

double Release::compute_command(const ScenarioInput& now) noexcept {
  const JointState& joint = now.joint[settings_.joint];
  if (has_complete_readings(now)) {
    known_s_ = now.time_s;
  } else if (now.time_s - known_s_ < kMissingMax_s) {
    return 0.0;
  }
  const auto lasted = [&](bool condition, double wanted_s) {
    if (!condition) since_s_ = -1.0;
    if (condition && since_s_ < 0.0) since_s_ = now.time_s;
    return condition && now.time_s - since_s_ >= wanted_s;
  };
  switch (phase_) {
    case ScenarioPhase::kWaitingForHold:
      if (lasted(is_joint_held(joint) &&
                     std::abs(joint.speed_rad_per_s) <
                         (is_sliding(settings_.joint) ? kHeldSpeed_m_per_s : kHeldSpeed_rad_per_s),
                 kHeldTime_s)) {
        phase_ = ScenarioPhase::kWaitingForRelease;
      }
      break;
    case ScenarioPhase::kWaitingForRelease:
      if (joint.valid && !is_joint_held(joint)) {
        phase_ = ScenarioPhase::kRunning;
        since_s_ = -1.0;
      }
      break;
    case ScenarioPhase::kRunning:
      if (waits_for_rest() && lasted(is_at_rest(now), settings_.rest_time_s)) {
        phase_ = ScenarioPhase::kFinished;
      }
      break;
    case ScenarioPhase::kFinished:
      break;
  }
  return 0.0;
}

std::vector<std::string> Release::validation_errors() const {
  return unmet(
      {{!settings_.has_operator || settings_.held_tolerance_rad > 0.0,
        is_sliding(settings_.joint) ? "release.held_tolerance_m must be positive"
                                    : "release.held_tolerance_rad must be positive"},
       {settings_.rest_speed_rad_per_s >= 0.0, "release.rest_speed_rad_per_s must not be negative"},
       {settings_.rest_speed_m_per_s >= 0.0, "release.rest_speed_m_per_s must not be negative"},
       {settings_.rest_time_s >= 0.0, "release.rest_time_s must not be negative"}});
}

void TestPush::enter(TestPushStage stage, double time_s) noexcept {
  stage_ = stage;
  since_s_ = time_s;
}

double TestPush::room_toward(double direction, double from_rad) const noexcept {
  return direction > 0.0 ? settings_.highest_rad - from_rad : from_rad - settings_.lowest_rad;
}

// Returns the motion that ends the push: less toward a nearby end of the range.
double TestPush::motion_limit(double direction) const noexcept {
  const double room = room_toward(direction, start_rad_[settings_.joint]);
  return std::clamp(room / kRoomPerMotion, kMotionShareMin * settings_.motion_rad,
                    settings_.motion_rad);
}

// Every second push has the opposite command, except toward a nearby end of the range.
void TestPush::choose_direction() noexcept {
  sign_ = finished_ % 2 == 0 ? 1.0 : -1.0;
  const double direction = std::copysign(1.0, settings_.level) * sign_ * way_;
  const double start = start_rad_[settings_.joint];
  const double room = room_toward(direction, start);
  const bool is_near = room < kRoomPerMotion * settings_.motion_rad;
  if (is_near && room < room_toward(-direction, start)) sign_ = -sign_;
}

bool TestPush::is_resting(const ScenarioInput& now) const noexcept {
  constexpr double kSecond_s = 1.0;
  return !(std::abs(now.joint[settings_.joint].speed_rad_per_s) * kSecond_s >
           kRestingShare * settings_.motion_rad);
}

// Gravity or another joint may move the joint on after a push.
bool TestPush::is_drifting_to_an_end(const ScenarioInput& now) const noexcept {
  const JointState& joint = now.joint[settings_.joint];
  return is_way_known_ && !is_resting(now) &&
         room_toward(joint.speed_rad_per_s, joint.angle_rad) <
             kDriftRoomPerMotion * settings_.motion_rad;
}

// An angle that is NaN counts as motion. A joint that is returned must move back.
bool TestPush::has_moved(const ScenarioInput& now) const noexcept {
  const auto moved = [&](std::size_t j) { return now.joint[j].angle_rad - start_rad_[j]; };
  if (returns_) {
    const double way = std::copysign(1.0, settings_.level) * sign_ * way_;
    return !(way * moved(settings_.joint) < settings_.motion_rad);
  }
  const std::size_t count = std::min({settings_.joint_count, now.joint.size(), kJointsMax});
  for (std::size_t j = 0; j < count; ++j) {
    const double other = is_sliding(j) ? settings_.other_motion_m : settings_.other_motion_rad;
    const double limit = j == settings_.joint ? motion_limit(moved(j)) : other;
    if (!(std::abs(moved(j)) < limit)) return true;
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

// Begins the next push when the joint rests, and at once if it drifts to an end of its range.
// Pushes that return the joint are not counted.
void TestPush::end_rest(const ScenarioInput& now, double passed_s) noexcept {
  const bool drifts = is_drifting_to_an_end(now);
  const int finished = finished_ + (returns_ ? 0 : 1);
  const bool is_over = finished >= settings_.count;
  const bool must_return = drifts && !is_over && return_count_ < settings_.count;
  const bool is_moving = !is_over && !is_resting(now);
  const bool waits =
      passed_s < settings_.rest_s || (is_moving && passed_s < kRestFactorMax * settings_.rest_s);
  if (waits && !must_return && !(drifts && is_over)) return;
  finished_ = finished;
  returns_ = must_return;
  if (must_return) ++return_count_;
  enter(is_over ? TestPushStage::kOver : TestPushStage::kBegin, now.time_s);
}

double TestPush::compute_command(const ScenarioInput& now) noexcept {
  if (stage_ == TestPushStage::kBegin) {
    const std::size_t count = std::min({settings_.joint_count, now.joint.size(), kJointsMax});
    for (std::size_t j = 0; j < count; ++j) start_rad_[j] = now.joint[j].angle_rad;
    farthest_rad_ = 0.0;
    choose_direction();
    enter(TestPushStage::kPush, now.time_s);
  }
  const double passed_s = now.time_s - since_s_;
  switch (stage_) {
    case TestPushStage::kBegin:
    case TestPushStage::kOver:
      return 0.0;
    case TestPushStage::kPush: {
      if (!has_moved(now) && passed_s < settings_.push_s_max) {
        const double share = settings_.rise_s > 0.0 ? passed_s / settings_.rise_s : 1.0;
        return pushed_command_ = sign_ * settings_.level * std::min(share, 1.0);
      }
      pushed_s_ = passed_s;
      const double motion = now.joint[settings_.joint].angle_rad - start_rad_[settings_.joint];
      direction_ = motion > 0.0 ? 1.0 : motion < 0.0 ? -1.0 : 0.0;
      const double way = direction_ * std::copysign(1.0, pushed_command_);
      if (!returns_ && std::abs(motion) >= kMotionShareMin * settings_.motion_rad) {
        way_ = way;
        is_way_known_ = true;
      }
      const bool brakes = direction_ != 0.0 && (!returns_ || way == way_);
      enter(brakes ? TestPushStage::kBrake : TestPushStage::kRest, now.time_s);
      return stage_ == TestPushStage::kBrake ? -pushed_command_ : 0.0;
    }
    case TestPushStage::kBrake:
      if (passed_s < pushed_s_ && !has_stopped(now)) return -pushed_command_;
      enter(TestPushStage::kRest, now.time_s);
      return 0.0;
    case TestPushStage::kRest:
      end_rest(now, passed_s);
      return 0.0;
  }
  return 0.0;
}

double TestPush::command_peak() const noexcept { return std::abs(settings_.level); }

std::vector<std::string> TestPush::validation_errors() const {
  return unmet(
      {{settings_.push_s_max > 0.0, "test_push.rise_s must be positive"},
       {settings_.motion_rad > 0.0, is_sliding(settings_.joint)
                                        ? "test_push.motion_m must be positive"
                                        : "test_push.motion_rad must be positive"},
       {settings_.lowest_rad < settings_.highest_rad,
        is_sliding(settings_.joint) ? "test_push.position_m_min must be below position_m_max"
                                    : "test_push.angle_rad_min must be below angle_rad_max"}});
}

}  // namespace daq
