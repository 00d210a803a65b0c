#include "daq/safety/encoder_motion_monitor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

namespace daq {
namespace {

constexpr double kSpan_s = 0.0625;   // for a mean speed: one count of 4096 a turn is 25 mrad/s
constexpr double kChanging_s = 0.1;  // a command counts as changing for this long after each change
constexpr double kSameCommand = 0.05;  // share of the stall command within which commands are equal
// After a missing sample the loop sends an idle command. Until a zero has lasted for this time, the
// command before it counts as unchanged.
constexpr double kIdleTime_s = 0.02;

// Commands of alternating sign: an intact joint at rest moves by two counts in each push of half a
// stall limit, because time_s is above sqrt(24 q / (κ command)). What exceeds it adds up.
constexpr double kCountedBeyond = 0.5;  // stall limits

// A free joint coasts on after a command of the other sign, a held one does not. So the limit of
// the reach of all pushes together is larger than that of pushes from rest by this factor.
constexpr double kThroughReversals = 1.35;

// A response of passive joints is due only after a fast rise of the command.
constexpr double kPushedWithin_s =
    0.1;  // from half the stall command to it; if slower, all joints follow quasi-statically
constexpr double kPushedFrom =
    0.3;  // largest speed of the joint when the motor starts to push [rad/s]

// The first motion is not checked if joints already drift faster.
constexpr double kStartDrift = 0.3;        // [rad/s]
constexpr double kStartOthersDrift = 0.1;  // of other joints; slower ones push less

}  // namespace

EncoderMotionMonitor::EncoderMotionMonitor(const SafetyLimits& limits)
    : joint_count_(std::min({limits.motion.size(), limits.joint.size(), kJointsMax})) {
  for (const std::size_t j : indices(joint_count_)) {
    const JointDrive& motion = limits.motion[j];
    const bool slides = limits.joint[j].slides;
    const double count = std::abs(motion.rad_per_count);
    bounds_[j] = {motion, count, slides ? 0.1 : 1.0,
                  slides ? 0.0 : std::round(2.0 * std::numbers::pi / count)};
    joints_[j].steps = CountStepDetector(kAccelerationMax * bounds_[j].scale / count);
    repetitions_.emplace_back(motion.motor >= 0 ? motion.stall_command : 0.0);
  }
}

void EncoderMotionMonitor::fail(TripCause cause, std::size_t j, double value,
                                double limit) noexcept {
  if (found_.cause != TripCause::kNone) return;
  found_ = {cause, static_cast<std::uint8_t>(j), now_s_, value, limit};
}

bool EncoderMotionMonitor::is_driven(std::size_t j) const noexcept {
  const JointDrive& motion = bounds_[j].motion;
  return motion.motor >= 0 &&
         !(std::abs(command_[static_cast<std::size_t>(motion.motor)]) < motion.stall_command);
}

bool EncoderMotionMonitor::is_passive_joint(std::size_t j) const noexcept {
  return bounds_[j].motion.motor < 0 && !bounds_[j].motion.is_unaffected;
}

Trip EncoderMotionMonitor::add(const MotionSample& sample) noexcept {
  since_s_ = started_ ? sample.now.time_s - now_s_ : 0.0;
  now_s_ = sample.now.time_s;
  if (sample.phase != phase_ || !started_) update_run_phase(sample);
  bool any_drives = false;
  for (const std::size_t j : indices(joint_count_)) any_drives = any_drives || is_driven(j);
  for (const std::size_t j : indices(joint_count_)) {
    if (any_drives) joints_[j].rest.driven_s += since_s_;
    if (any_drives && now_s_ - changed_s_ <= kChanging_s) joints_[j].rest.shaken_s += since_s_;
    update_motor_pushes(j, sample);
    if (sample.now.joint[j].valid) update_encoder(j, sample);
  }
  for (const std::size_t j : indices(joint_count_)) {
    const bool valid = sample.now.joint[j].valid && joints_[j].seen;
    check_growing_swings(j, sample);
    if (!valid) continue;
    if (phase_ == MotionPhase::kWatched) check_creep(j, sample);
    if (phase_ != MotionPhase::kDriven) continue;
    check_direction(j, sample);
    check_steps(j, sample.now.joint[j].angle_rad);
    if (bounds_[j].motion.motor >= 0) {
      check_repetition(j, sample);
      check_late_start(j);
      check_stall(j);
      check_small_motion(j);
      check_response(j, sample);
    }
    if (is_at_end_stop(j, sample.now.joint[j].angle_rad)) continue;
    check_sudden_stop(j);
    if (is_passive_joint(j)) check_frozen_passive_joint(j);
  }
  update_command_history(sample);
  started_ = true;
  return found_;
}

// Commands that differ by less than kSameCommand of the stall command count as unchanged.
void EncoderMotionMonitor::update_command_history(const MotionSample& sample) noexcept {
  const std::size_t motors = std::min(sample.command.size(), command_.size());
  std::copy_n(sample.command.begin(), motors, command_.begin());
  const double changed_before_s = changed_s_;
  for (const std::size_t j : indices(joint_count_)) {
    const JointDrive& motion = bounds_[j].motion;
    if (motion.motor < 0) continue;
    const double u = command_[static_cast<std::size_t>(motion.motor)];
    if (u != 0.0) joints_[j].commanded_s = now_s_;
    if (u == 0.0 && now_s_ - joints_[j].commanded_s < kIdleTime_s) continue;
    if (std::abs(u - joints_[j].steady_command) < kSameCommand * motion.stall_command) continue;
    joints_[j].steady_command = u;
    changed_s_ = now_s_;
  }
  if (changed_s_ != now_s_) return;
  const bool steps = now_s_ - changed_before_s >= kRest_s;
  for (const std::size_t j : indices(joint_count_)) {
    store_push_start(j, sample.now.joint[j]);
    if (!steps) continue;
    joints_[j].span_counts = sample.counts[j];
    joints_[j].span_s = now_s_;
  }
}

void EncoderMotionMonitor::update_run_phase(const MotionSample& sample) noexcept {
  phase_ = sample.phase;
  phase_since_s_ = now_s_;
  for (const std::size_t j : indices(joint_count_)) {
    JointHistory& joint = joints_[j];
    // A hand may have stopped the joint at once. No stop is judged by motions of an earlier phase.
    joint.rest = {};
    joint.near = {sample.counts[j], {}};
    joint.speed = 0.0;
    joint.next_motion = 0;
    joint.awaits_response = false;
    joint.last_push_s = now_s_ - kRest_s;
    joint.start = phase_ == MotionPhase::kDriven && bounds_[j].motion.motor >= 0
                      ? FirstMotionState::kWaiting
                      : FirstMotionState::kDone;
    joint.start_command = 0.0;
    joint.start_is_mixed = false;
    joint.creep_s = now_s_;
    joint.creep_counts = sample.counts[j];
    joint.creep_step = 0;
    joint.creep_steady_s = 0.0;
    joint.moving_spans = 0;
    joint.swings = {};
    joint.steps.start_phase();
  }
}

void EncoderMotionMonitor::update_motor_pushes(std::size_t j, const MotionSample& sample) noexcept {
  JointHistory& joint = joints_[j];
  const JointDrive& motion = bounds_[j].motion;
  if (motion.motor < 0) return;
  const double u = command_[static_cast<std::size_t>(motion.motor)];
  if (joint.start == FirstMotionState::kWaiting && u != 0.0) {
    joint.start_is_mixed = joint.start_is_mixed || u * joint.start_command < 0.0;
    joint.start_command = sign_of(u);
  }
  if (std::abs(u) < 0.5 * motion.stall_command) joint.idle_s = now_s_;
  const double pushed = is_driven(j) ? sign_of(u) : 0.0;
  if (pushed != joint.push_direction) joint.push_since_s = now_s_;
  joint.push_direction = pushed;
  if (u != 0.0) update_rig_motion(j);
  if (is_driven(j)) {
    joint.rest.pushed_s += since_s_;
    update_push(j, sample);
  }
  joint.rest.pushes.add(u, since_s_, motion);
  joint.near.pushes.add(u, since_s_, motion);
}

// Integrates the motion without friction or load due to commands above the stall command. Below it,
// friction brakes the joint. The last push starts from rest at each change of sign, as a joint that
// does not count has not moved.
void EncoderMotionMonitor::Pushes::add(double u, double since_s,
                                       const JointDrive& motion) noexcept {
  const bool drives = !(std::abs(u) < motion.stall_command);
  if (drives && u * last.reach < 0.0) {
    earlier += std::max(std::abs(last.reach) - kCountedBeyond * stall_reach(motion), 0.0);
    last = {};
  }
  for (FreeMotion* moved : {&total, &last}) {
    const double braked = std::abs(moved->impulse) - motion.stall_command * since_s;
    moved->impulse =
        drives ? moved->impulse + u * since_s : sign_of(moved->impulse) * std::max(braked, 0.0);
    moved->reach += moved->impulse * since_s;
  }
}

double EncoderMotionMonitor::Pushes::reach() const noexcept {
  return std::max(earlier + std::abs(last.reach), std::abs(total.reach) / kThroughReversals);
}

// Called while the motor is commanded. Other motors may also move or hold the joint.
void EncoderMotionMonitor::update_rig_motion(std::size_t j) noexcept {
  std::optional<bool>& moved = joints_[j].rest.rig_moved;
  bool moves = moved.value_or(false);
  for (const std::size_t k : indices(joint_count_)) {
    const int motor = bounds_[k].motion.motor;
    if (k != j && motor >= 0) moves |= command_[static_cast<std::size_t>(motor)] != 0.0;
    if (!moved) moves |= joints_[k].seen && now_s_ - joints_[k].moved_s < kRest_s;
  }
  moved = moves;
}

void EncoderMotionMonitor::update_encoder(std::size_t j, const MotionSample& sample) noexcept {
  JointHistory& joint = joints_[j];
  const std::int64_t counts = sample.counts[j];
  if (!joint.seen) {
    joint.seen = true;
    joint.reference = joint.span_counts = joint.creep_counts = joint.near.counts = counts;
    joint.first_s = joint.moved_s = joint.span_s = joint.creep_s = now_s_;
  }
  joint.steps.add(counts, now_s_);
  joint.excursion = std::max(joint.excursion, std::abs(counts - joint.origin));
  if (now_s_ - joint.span_s >= kSpan_s) {
    const std::int64_t steps = std::abs(counts - joint.span_counts);
    if (steps >= kMoveCounts) {
      joint.spans[joint.next_span++ % kSpanCount] = {
          joint.span_s,
          static_cast<double>(steps) * bounds_[j].count_rad / (now_s_ - joint.span_s)};
    }
    joint.span_counts = counts;
    joint.span_s = now_s_;
  }
  if (std::abs(counts - joint.near.counts) >= kNearCounts) joint.near = {counts, {}};
  if (std::abs(counts - joint.reference) < kMoveCounts) return;
  const double rested_s = now_s_ - joint.moved_s;
  begin_motion(j, rested_s);
  if (rested_s >= kRest_s) {
    joint.rest_counts = joint.reference;
    joint.left_rest_s = now_s_;
  }
  joint.reference = counts;
  joint.moved_s = now_s_;
  const CountChange& earlier = joint.motions[joint.next_motion % kMoveHistory];
  if (joint.next_motion >= kMoveHistory) {
    joint.speed = static_cast<double>(std::abs(counts - earlier.counts)) * bounds_[j].count_rad /
                  (now_s_ - earlier.time_s);
  }
  joint.motions[joint.next_motion++ % kMoveHistory] = {now_s_, counts};
  joint.rest = {};
}

// Called while the motor drives. A push starts if there was none for kRest_s.
void EncoderMotionMonitor::update_push(std::size_t j, const MotionSample& sample) noexcept {
  JointHistory& joint = joints_[j];
  if (now_s_ - joint.last_push_s >= kRest_s && phase_ == MotionPhase::kDriven) {
    const bool others = std::any_of(joints_.begin(), joints_.end(), [](const JointHistory& other) {
      return other.awaits_response;
    });
    for (const std::size_t p : indices(others ? 0 : joint_count_)) {
      joints_[p].origin = sample.counts[p];
      joints_[p].rested = now_s_ - joints_[p].moved_s >= kRest_s;
      joints_[p].excursion = 0;
    }
    joint.awaits_response =
        now_s_ - joint.idle_s <= kPushedWithin_s &&
        std::abs(sample.now.joint[j].speed_rad_per_s) <= kPushedFrom * bounds_[j].scale;
    store_push_start(j, sample.now.joint[j]);
    if (joint.start == FirstMotionState::kWaiting && now_s_ - joint.moved_s < kRest_s) {
      start(j, sign_of(command_[static_cast<std::size_t>(bounds_[j].motion.motor)]),
            sample.counts[j], sample.now.joint[j].speed_rad_per_s);
    }
  }
  joint.last_push_s = now_s_;
}

void EncoderMotionMonitor::store_push_start(std::size_t j, const JointState& state) noexcept {
  joints_[j].pushed_s = now_s_;
  joints_[j].pushed_rad = state.angle_rad;
  joints_[j].pushed_speed = state.speed_rad_per_s;
}

// Called when the joint moves after a rest; its stored state is still that of the rest.
void EncoderMotionMonitor::begin_motion(std::size_t j, double rested_s) noexcept {
  JointHistory& joint = joints_[j];
  if (rested_s >= kRecent_s) joint.spans = {};
  if (joint.start != FirstMotionState::kWaiting || rested_s < kRest_s) return;
  const double command = joint.start_is_mixed ? 0.0 : joint.start_command;
  start(j, joint.rest.pushes.total.reach != 0.0 ? sign_of(joint.rest.pushes.total.reach) : command,
        joint.reference, 0.0);
}

// First motion of a run by a motor. It is checked only if other joints rest and are not driven,
// because they would push this joint too. While its direction is unknown, it waits for a push.
void EncoderMotionMonitor::start(std::size_t j, double pushed, std::int64_t counts,
                                 double drift) noexcept {
  JointHistory& joint = joints_[j];
  joint.start = FirstMotionState::kMoving;
  joint.start_direction = pushed * bounds_[j].motion.gain_sign;
  joint.start_counts = counts;
  joint.start_drift = drift / bounds_[j].motion.rad_per_count;
  joint.start_drifts = now_s_ - joint.moved_s < kRest_s;
  joint.start_s = now_s_;
  bool others_rest =
      std::abs(drift) <= kStartDrift * bounds_[j].scale && now_s_ - joint.first_s >= kRest_s;
  for (const std::size_t k : indices(joint_count_)) {
    if (k == j) continue;
    others_rest = others_rest && !is_driven(k) &&
                  largest_recent_speed(k, kSpanCount, 0.0) <= kStartOthersDrift * bounds_[k].scale;
  }
  if (!others_rest) joint.start = FirstMotionState::kDone;
  if (joint.start_direction == 0.0) joint.start = FirstMotionState::kWaiting;
}

double EncoderMotionMonitor::stall_reach(const JointDrive& motion) noexcept {
  return 0.5 * motion.stall_command * motion.stall_time_s * motion.stall_time_s;
}

double EncoderMotionMonitor::largest_recent_speed(std::size_t j, std::size_t span_count,
                                                  double since_s) const noexcept {
  const JointHistory& joint = joints_[j];
  double fastest = 0.0;
  for (std::size_t k = 1; k <= std::min(span_count, joint.next_span); ++k) {
    const SpeedInterval& span = joint.spans[(joint.next_span - k) % kSpanCount];
    if (span.since_s >= since_s && !(span.speed <= fastest)) fastest = span.speed;
  }
  return fastest;
}

}  // namespace daq
