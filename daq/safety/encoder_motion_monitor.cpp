#include "daq/safety/encoder_motion_monitor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>

#include "daq/scenario/joint_tracker.hpp"

namespace daq {
namespace {

// At the edge between two counts an encoder alternates by one, with a broken channel forever. So
// only two counts from the last position are motion.
constexpr std::int64_t kMoveCounts = 2;

// A joint is at rest if it has not moved for this long [s].
constexpr double kRest_s = 0.2;

// Largest deceleration of a joint without an impact [rad/s²]. It stops within the two counts from
// at most 3 sqrt(q a): the mean speed over the six counts before, up to 1.5 samples ago. From a
// higher speed it travels farther.
constexpr double kDecelerationMax = 200.0;
constexpr double kUndetectedTravel = 0.1;  // travel of a joint after its encoder stopped [rad]

// A passive joint stops permanently only by dry friction, which may hold it within d [rad] of its
// equilibrium. At the extremes of a slow forced motion of acceleration a, it rests for up to T = 2
// sqrt(4 (d + q) / a). In the time W before, its speed was below a W, so speed·T² was below 16 W (d
// + q). With more, the encoder of a joint too fast for friction to stop is frozen.
constexpr double kSpan_s = 0.0625;      // for a mean speed: one count of 4096 a turn is 25 mrad/s
constexpr double kRecent_s = 0.3125;    // W: a speed of this age predicts the next turning point
constexpr double kHeldWithin = 3.6e-3;  // d; 2.3 mrad for the pendulum of the shipped rig
constexpr double kHeldSpeed =
    0.15;  // [rad/s] that friction of 0.5 rad/s² takes within W; shipped rig: 0.4
constexpr double kFrictionRestTimeMin_s = 0.1;

// Joints that move may absorb a part of a motor's torque, as a vibration absorber does.
constexpr double kAbsorbedFactor = 1.75;  // of the stall limit

// A command may stop a passive joint at its turning point: a step for as long as the command then
// stays constant, a changing command for a moment.
constexpr double kStoppedByCommandTime_s = 0.9;  // a replay held it for 0.751 s
constexpr double kStoppedByCommandSpeed = 0.3;  // speed before the stop [rad/s]
constexpr double kChanging_s = 0.1;  // a command counts as changing for this long after each change
constexpr double kSameCommand = 0.05;  // share of the stall command within which commands are equal

// Alternating pushes may move a joint by less than two counts each. If its last speed times the
// duration of its motor's pushes exceeds this travel [rad], its encoder is frozen or the joint is
// blocked. Friction brakes a joint during its last two spans, so these give the last speed.
constexpr double kCoastedTravel = 0.45;
constexpr std::size_t kLastSpans = 2;

// Once a motor has moved its joint by this travel [rad], within this time, every passive
// joint that was at rest has moved by at least kResponseCounts.
constexpr double kPushedTravel = 0.1;
constexpr double kPushedTime_s = 0.7;
constexpr double kPushedWithin_s =
    0.1;  // from half the stall command to it; if slower, all joints follow quasi-statically
constexpr double kPushedFrom =
    0.3;  // largest speed of the joint when the motor starts to push [rad/s]
constexpr std::int64_t kResponseCounts = 12;

// The direction of the first motion is checked for this long, and until it has reached this number
// of counts. A joint that already drifts must be pushed by its motor at once, and the drift is
// subtracted. A speed is known to a count in the tracker's window.
constexpr double kStart_s = 0.05;
constexpr double kStartMax_s = 0.5;
constexpr double kStartCounts = 4.0;
constexpr double kStartDrift = 0.3;        // [rad/s]
constexpr double kStartOthersDrift = 0.1;  // of other joints; slower ones push less

// A joint creeps if it moves by equal steps, within a count plus a tenth, for three spans.
constexpr double kCreepSpan_s = 0.15;
constexpr double kCreepNoted_s = 0.29;  // of equal steps after the first
constexpr double kCreepMax_s = 1.85;
constexpr int kCreepSpansMin = 4;  // from the first motion to a decision

double sign_of(double value) noexcept { return value < 0.0 ? -1.0 : value > 0.0 ? 1.0 : 0.0; }

}  // namespace

EncoderMotionMonitor::EncoderMotionMonitor(const SafetyLimits& limits)
    : joint_count_(std::min({limits.motion.size(), limits.joint.size(), kJointsMax})) {
  for (const std::size_t j : indices(joint_count_)) {
    const JointDrive& motion = limits.motion[j];
    const bool slides = limits.joint[j].slides;
    const double count = std::abs(motion.rad_per_count);
    bounds_[j] = {motion, count, slides ? 0.1 : 1.0,
                  slides ? 0.0 : std::round(2.0 * std::numbers::pi / count)};
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
  if (sample.phase != phase_ || !started_) update_phase(sample);
  bool any_drives = false;
  for (const std::size_t j : indices(joint_count_)) any_drives = any_drives || is_driven(j);
  for (const std::size_t j : indices(joint_count_)) {
    if (any_drives) joints_[j].rest.driven_s += since_s_;
    if (any_drives && now_s_ - changed_s_ <= kChanging_s) joints_[j].rest.shaken_s += since_s_;
    update_motor(j, sample);
    if (sample.now.joint[j].valid) update_encoder(j, sample);
  }
  for (const std::size_t j : indices(joint_count_)) {
    const bool valid = sample.now.joint[j].valid && joints_[j].seen;
    check_growing_swings(j, sample);
    if (!valid) continue;
    if (phase_ == MotionPhase::kWatched) check_creep(j, sample);
    if (phase_ != MotionPhase::kDriven) continue;
    check_direction(j, sample);
    if (bounds_[j].motion.motor >= 0) {
      check_stall(j);
      check_response(j, sample);
    }
    if (is_at_end_stop(j, sample.now.joint[j].angle_rad)) continue;
    check_sudden_stop(j);
    if (is_passive_joint(j)) check_frozen_passive_joint(j);
  }
  update_commands(sample);
  started_ = true;
  return found_;
}

// Commands that differ by less than kSameCommand of the stall command count as unchanged.
void EncoderMotionMonitor::update_commands(const MotionSample& sample) noexcept {
  const std::size_t motors = std::min(sample.command.size(), command_.size());
  std::copy_n(sample.command.begin(), motors, command_.begin());
  const double changed_before_s = changed_s_;
  for (const std::size_t j : indices(joint_count_)) {
    const JointDrive& motion = bounds_[j].motion;
    if (motion.motor < 0) continue;
    const double u = command_[static_cast<std::size_t>(motion.motor)];
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

void EncoderMotionMonitor::update_phase(const MotionSample& sample) noexcept {
  phase_ = sample.phase;
  for (const std::size_t j : indices(joint_count_)) {
    JointHistory& joint = joints_[j];
    joint.rest = {};
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
  }
}

// Integrates the motion without friction or load due to commands above the stall command. Below it,
// friction brakes the joint. A command in the other direction restarts the integral.
void EncoderMotionMonitor::update_motor(std::size_t j, const MotionSample& sample) noexcept {
  JointHistory& joint = joints_[j];
  const JointDrive& motion = bounds_[j].motion;
  if (motion.motor < 0) return;
  const double u = command_[static_cast<std::size_t>(motion.motor)];
  if (joint.start == FirstMotionState::kWaiting && u != 0.0) {
    joint.start_is_mixed = joint.start_is_mixed || u * joint.start_command < 0.0;
    joint.start_command = sign_of(u);
  }
  if (std::abs(u) < 0.5 * motion.stall_command) joint.idle_s = now_s_;
  if (is_driven(j)) {
    joint.rest.pushed_s += since_s_;
    update_push(j, sample);
    if (u * joint.rest.impulse < 0.0) joint.rest.impulse = 0.0;
    joint.rest.impulse += u * since_s_;
  } else {
    const double braked = std::abs(joint.rest.impulse) - motion.stall_command * since_s_;
    joint.rest.impulse = sign_of(joint.rest.impulse) * std::max(braked, 0.0);
  }
  joint.rest.reach += joint.rest.impulse * since_s_;
}

void EncoderMotionMonitor::update_encoder(std::size_t j, const MotionSample& sample) noexcept {
  JointHistory& joint = joints_[j];
  const std::int64_t counts = sample.counts[j];
  if (!joint.seen) {
    joint.seen = true;
    joint.reference = joint.span_counts = joint.creep_counts = counts;
    joint.first_s = joint.moved_s = joint.span_s = joint.creep_s = now_s_;
  }
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
  if (std::abs(counts - joint.reference) < kMoveCounts) return;
  begin_motion(j, now_s_ - joint.moved_s);
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
  start(j, joint.rest.reach != 0.0 ? sign_of(joint.rest.reach) : command, joint.reference, 0.0);
}

// First motion of a run by a motor. It is checked only if other joints rest and are not driven,
// because they would push this joint too.
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
                  largest_recent_speed(k) <= kStartOthersDrift * bounds_[k].scale;
  }
  if (!others_rest || joint.start_direction == 0.0) joint.start = FirstMotionState::kDone;
}

// At rest under a constant command u a joint moves by κ u t²/2 in t. Its encoder has not counted
// although ∫∫u dt² has reached command time_s²/2. So it moved at most κ command time_s²/2 (0.07 rad
// at κ 1.8, 0.5 V, 0.4 s) plus the travel at its last speed. This takes time_s at the stall command
// and less at a larger one. With a working encoder, a joint reverses within two counts in ∫∫u dt² =
// 11.7 q/κ. So time_s must be above sqrt(24 q / (κ command)), 0.2 s in that example.
void EncoderMotionMonitor::check_stall(std::size_t j) noexcept {
  const JointHistory& joint = joints_[j];
  const JointDrive& motion = bounds_[j].motion;
  double limit = 0.5 * motion.stall_command * motion.stall_time_s * motion.stall_time_s;
  const double reach = std::abs(joint.rest.reach);
  const double coasted =
      joint.rest.pushed_s * largest_recent_speed(j, kLastSpans) / bounds_[j].scale;
  if (reach <= limit && coasted <= kCoastedTravel) return;
  if (coasted > kCoastedTravel) {
    fail(TripCause::kFrozenEncoder, j, joint.rest.pushed_s,
         joint.rest.pushed_s * kCoastedTravel / coasted);
  }
  bool others_move = false;
  for (const std::size_t k : indices(joint_count_)) {
    others_move = others_move || joints_[k].moved_s > joint.moved_s + kRest_s / 2.0;
  }
  if (others_move) limit *= kAbsorbedFactor;
  if (reach <= limit) return;
  fail(TripCause::kStall, j, std::sqrt(2.0 * reach / motion.stall_command), motion.stall_time_s);
}

double EncoderMotionMonitor::largest_recent_speed(std::size_t j,
                                                  std::size_t span_count) const noexcept {
  const JointHistory& joint = joints_[j];
  double fastest = 0.0;
  for (std::size_t k = 1; k <= std::min(span_count, joint.next_span); ++k) {
    fastest = std::max(fastest, joint.spans[(joint.next_span - k) % kSpanCount].speed);
  }
  return fastest;
}

void EncoderMotionMonitor::check_sudden_stop(std::size_t j) noexcept {
  const JointHistory& joint = joints_[j];
  const double count = bounds_[j].count_rad;
  const double a = kDecelerationMax * bounds_[j].scale;
  const double honest = 3.0 * std::sqrt(count * a) + 1.5 * a * since_s_;
  const double travel = std::max(kUndetectedTravel * bounds_[j].scale, 8.0 * count);
  const double rest_s = now_s_ - joint.moved_s;
  if (joint.speed <= honest || joint.speed * rest_s <= travel) return;
  fail(TripCause::kFrozenEncoder, j, rest_s, travel / joint.speed);
}

void EncoderMotionMonitor::check_frozen_passive_joint(std::size_t j) noexcept {
  const JointHistory& joint = joints_[j];
  const double scale = bounds_[j].scale;
  if (joint.rest.shaken_s > kStoppedByCommandTime_s &&
      largest_recent_speed(j) > kStoppedByCommandSpeed * scale) {
    fail(TripCause::kFrozenEncoder, j, joint.rest.shaken_s, kStoppedByCommandTime_s);
  }
  double fastest = 0.0;  // under the present command
  for (const SpeedInterval& span : joint.spans) {
    if (span.since_s >= changed_s_) fastest = std::max(fastest, span.speed);
  }
  if (joint.moved_s < changed_s_ || joint.rest.driven_s <= kFrictionRestTimeMin_s) return;
  if (fastest <= kHeldSpeed * scale) return;
  const double held_within = kHeldWithin * scale + bounds_[j].count_rad;
  const double longest_s = std::sqrt(16.0 * kRecent_s * held_within / fastest);
  if (joint.rest.driven_s <= longest_s) return;
  fail(TripCause::kFrozenEncoder, j, joint.rest.driven_s, longest_s);
}

// A motor that starts to push accelerates its joint, and all joints attached to it. A passive joint
// that hardly moves has a frozen encoder or a clamp, or the motor does not affect it. The earlier
// motion of the driven joint is subtracted; its speed is known to a count in the tracker's window.
void EncoderMotionMonitor::check_response(std::size_t j, const MotionSample& sample) noexcept {
  JointHistory& joint = joints_[j];
  if (!joint.awaits_response) return;
  const double since_s = now_s_ - joint.pushed_s;
  if (since_s > kPushedTime_s) joint.awaits_response = false;
  const double before = joint.pushed_speed * since_s;
  const double pushed = std::abs(sample.now.joint[j].angle_rad - joint.pushed_rad - before);
  const double travel = kPushedTravel * bounds_[j].scale +
                        since_s * bounds_[j].count_rad / (JointTracker::kWindow * since_s_);
  if (pushed <= travel) return;
  joint.awaits_response = false;
  for (const std::size_t p : indices(joint_count_)) {
    const JointState& state = sample.now.joint[p];
    if (!is_passive_joint(p) || !state.valid || is_at_end_stop(p, state.angle_rad)) continue;
    const JointHistory& passive = joints_[p];
    if (passive.rested && passive.excursion < kResponseCounts)
      fail(TripCause::kNoResponse, p, pushed, travel);
  }
}

// A joint at rest must start in the direction in which its motor pushes it.
void EncoderMotionMonitor::check_direction(std::size_t j, const MotionSample& sample) noexcept {
  JointHistory& joint = joints_[j];
  if (joint.start != FirstMotionState::kMoving) return;
  const JointDrive& motion = bounds_[j].motion;
  const double u = command_[static_cast<std::size_t>(motion.motor)];
  const double since_s = now_s_ - joint.start_s;
  const double moved =
      static_cast<double>(sample.counts[j] - joint.start_counts) - joint.start_drift * since_s;
  const double ahead = moved * sign_of(motion.rad_per_count) * joint.start_direction;
  double limit = kStartCounts;
  if (joint.start_drifts) limit += since_s / (JointTracker::kWindow * since_s_);
  if (ahead <= -limit) {
    fail(TripCause::kWrongDirection, j, -ahead * bounds_[j].count_rad,
         limit * bounds_[j].count_rad);
  }
  bool turned =
      u * motion.gain_sign * joint.start_direction < 0.0 || (joint.start_drifts && !is_driven(j));
  for (const std::size_t k : indices(joint_count_)) turned = turned || (k != j && is_driven(k));
  const bool judged = since_s > kStart_s && ahead >= limit;
  if (turned || judged || since_s > kStartMax_s) joint.start = FirstMotionState::kDone;
}

// Detects counts that drift at a constant rate although nothing is driven. A swing is not as steady
// for that long, unless its period is above 4 s.
void EncoderMotionMonitor::check_creep(std::size_t j, const MotionSample& sample) noexcept {
  JointHistory& joint = joints_[j];
  const double span_s = now_s_ - joint.creep_s;
  if (span_s < kCreepSpan_s) return;
  const std::int64_t step = sample.counts[j] - joint.creep_counts;
  const double tolerance = 1.0 + 0.1 * static_cast<double>(std::abs(joint.creep_step));
  const bool steady = std::abs(step) >= kMoveCounts && std::abs(joint.creep_step) >= kMoveCounts &&
                      static_cast<double>(std::abs(step - joint.creep_step)) <= tolerance;
  joint.creep_steady_s = steady ? joint.creep_steady_s + span_s : 0.0;
  joint.transition_speed = static_cast<double>(std::abs(step)) * bounds_[j].count_rad / span_s;
  if (!steady) joint.creep_step = step;  // first of a series of equal steps
  if (std::abs(step) >= kMoveCounts || joint.moving_spans > 0) ++joint.moving_spans;
  joint.creep_counts = sample.counts[j];
  joint.creep_s = now_s_;
  if (joint.creep_steady_s <= kCreepMax_s) return;
  fail(TripCause::kCreep, j, joint.transition_speed, 0.0);
}

bool EncoderMotionMonitor::may_creep() const noexcept {
  return std::any_of(joints_.begin(), joints_.begin() + static_cast<std::ptrdiff_t>(joint_count_),
                     [](const JointHistory& joint) {
                       return joint.creep_steady_s > kCreepNoted_s ||
                              (joint.moving_spans > 0 && joint.moving_spans < kCreepSpansMin);
                     });
}

void EncoderMotionMonitor::check_growing_swings(std::size_t j,
                                                const MotionSample& sample) noexcept {
  SwingGrowthDetector& swings = joints_[j].swings;
  const bool is_free = phase_ == MotionPhase::kReleased || phase_ == MotionPhase::kDriven;
  const bool driven =
      std::any_of(command_.begin(), command_.end(), [](double u) { return u != 0.0; });
  if (!is_free || driven) swings = {};
  if (!is_free || driven || !sample.now.joint[j].valid) return;
  const double growth = swings.add(sample.counts[j], now_s_, bounds_[j].counts_per_turn);
  if (growth > 0.0) fail(TripCause::kGrowingSwings, j, growth, 1.0 + SwingGrowthDetector::kShare);
}

bool EncoderMotionMonitor::is_at_end_stop(std::size_t j, double angle_rad) const noexcept {
  const JointDrive& motion = bounds_[j].motion;
  const double reach = kUndetectedTravel * bounds_[j].scale + 2e-3 * joints_[j].speed;
  return angle_rad < motion.stop_rad_min + reach || angle_rad > motion.stop_rad_max - reach;
}

}  // namespace daq
