#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "daq/safety/encoder_motion_monitor.hpp"
#include "daq/scenario/joint_tracker.hpp"

namespace daq {
namespace {

// With the largest deceleration a, a joint stops within the two counts from at most 3 sqrt(q a):
// the mean speed over the six counts before, up to 1.5 samples ago. From a higher speed it travels
// farther.
constexpr double kUndetectedTravel = 0.1;  // travel of a joint after its encoder stopped [rad]

// A passive joint stops permanently only by dry friction, which may hold it within d [rad] of its
// equilibrium. At the extremes of a slow forced motion of acceleration a, it rests for up to T = 2
// sqrt(4 (d + q) / a). In the time W before, its speed was below a W, so speed·T² was below 16 W (d
// + q). With more, the encoder of a joint too fast for friction to stop is frozen.
constexpr double kHeldWithin = 6e-3;  // d; 2.3 mrad for the pendulum of the shipped rig
constexpr double kHeldSpeed = 0.2;    // [rad/s] that friction of 0.64 rad/s² takes within W
constexpr double kFrictionRestTimeMin_s = 0.1;

// Joints that already move may take up a motor's torque, so that the driven joint rests: in a
// swing-up of the shipped rig for up to 1.66 stall limits. Then it comes to rest slowly. If it
// still moved when its encoder stopped, it has coasted at its last speed, and the limit decreases
// with the square of that travel. Joints at rest take up torque only after the driven joint has
// moved them.
constexpr double kAbsorbed = 1.85;         // largest limit, in stall limits
constexpr double kAbsorbedDecrease = 6.0;  // [1/rad²]
constexpr double kAbsorbingSpeed = 1.0;    // of another joint [rad/s]

// Limit of the pushes within which a joint moves by kNearCounts, in stall limits. An intact joint
// needs 8/12 of one, and 2.2 against friction of 0.7 stall commands. If gravity or joints that move
// take up the torque, it needs up to 3.03: shared recordings of a double pendulum with two motors.
constexpr double kNearLimit = 4.0;

// A command may stop a passive joint at its turning point: a step for as long as the command then
// stays constant, a changing command for a moment, in honest runs for up to 0.751 s.
constexpr double kStoppedByCommandTime_s = 0.9;
constexpr double kStoppedByCommandSpeed = 0.3;  // speed before the stop [rad/s]

// Alternating pushes may move a joint by less than two counts each. If its last speed times the
// duration of its motor's pushes exceeds this travel [rad], its encoder is frozen or the joint is
// blocked. Friction brakes a joint during its last two spans, so these give the last speed.
constexpr double kCoastedTravel = 0.45;
constexpr std::size_t kLastSpans = 2;

// A joint attached to an arm of length L turns from rest by at most L/l times the angle of the arm,
// l being the distance of its centre of mass: 4 times for the shipped rig. Later it may resonate.
constexpr double kLateRatio = 10.0;
constexpr double kLateCounts = 12.0;
constexpr double kLateWithin_s = 0.2;  // since it left its rest

// Once a motor has moved its joint by this travel [rad], within this time, every passive
// joint that was at rest has moved by at least kResponseCounts.
constexpr double kPushedTravel = 0.1;
constexpr double kPushedTime_s = 0.7;
constexpr std::int64_t kResponseCounts = 12;

// The direction of the first motion is checked for this long, and until it has reached this number
// of counts. A joint that already drifts must be pushed by its motor at once, and the drift is
// subtracted. A speed is known to a count in the tracker's window.
constexpr double kStart_s = 0.05;
constexpr double kStartMax_s = 0.5;
constexpr double kStartCounts = 4.0;

// A joint creeps if it moves by equal steps, within a count plus a tenth, for three spans.
constexpr double kCreepSpan_s = 0.15;
constexpr double kCreepNoted_s = 0.29;  // of equal steps after the first
constexpr double kCreepMax_s = 1.85;
constexpr int kCreepSpansMin = 4;  // from the first motion to a decision

}  // namespace

// At rest under a constant command u a joint moves by κ u t²/2 in t. Its encoder has not counted
// although ∫∫u dt² has reached command time_s²/2. So it moved at most κ command time_s²/2 (0.07 rad
// at κ 1.8, 0.5 V, 0.4 s) plus the travel at its last speed. This takes time_s at the stall command
// and less at a larger one. With a working encoder, a joint reverses within two counts in ∫∫u dt² =
// 11.7 q/κ. So time_s must be above sqrt(24 q / (κ command)), 0.2 s in that example.
void EncoderMotionMonitor::check_stall(std::size_t j) noexcept {
  const JointHistory& joint = joints_[j];
  const DriveSinceMotion& rest = joint.rest;
  const double coasted =
      rest.pushed_s * largest_recent_speed(j, kLastSpans, phase_since_s_) / bounds_[j].scale;
  if (!(coasted <= kCoastedTravel)) {
    fail(TripCause::kFrozenEncoder, j, rest.pushed_s, rest.pushed_s * kCoastedTravel / coasted);
  }
  bool others_move = false;
  for (const std::size_t k : indices(joint_count_)) {
    others_move =
        others_move ||
        (joints_[k].moved_s > joint.moved_s + kRest_s / 2.0 &&
         !(largest_recent_speed(k, kSpanCount, 0.0) < kAbsorbingSpeed * bounds_[k].scale));
  }
  const double travel = rest.pushed_s * joint.speed / bounds_[j].scale;
  const double absorbed = kAbsorbed - kAbsorbedDecrease * travel * travel;
  const bool absorbs = others_move && rest.rig_moved.value_or(false);
  fail_stall(j, rest.pushes.reach(), absorbs ? std::max(1.0, absorbed) : 1.0);
}

// A few counts to and fro are not a motion either. They occur if the unit sends old counts again,
// or if the encoder is loose on its shaft.
void EncoderMotionMonitor::check_small_motion(std::size_t j) noexcept {
  fail_stall(j, joints_[j].near.pushes.reach(), kNearLimit);
}

void EncoderMotionMonitor::fail_stall(std::size_t j, double reach, double stall_limits) noexcept {
  const double command = bounds_[j].motion.stall_command;
  const double limit = stall_limits * stall_reach(bounds_[j].motion);
  if (reach <= limit) return;
  fail(TripCause::kStall, j, std::sqrt(2.0 * reach / command), std::sqrt(2.0 * limit / command));
}

// A motor sets its own joint in motion, and by it the joints attached to it. If such a joint leaves
// its rest first while the motor drives, the encoder of the motor's joint is frozen, delayed or
// counts too little.
void EncoderMotionMonitor::check_late_start(std::size_t j) noexcept {
  const DriveSinceMotion& rest = joints_[j].rest;
  if (rest.rig_moved.value_or(true)) return;
  const double within_s = std::min(kLateWithin_s, rest.pushed_s);
  const double own = kMoveCounts * bounds_[j].count_rad / bounds_[j].scale;
  for (const std::size_t k : indices(joint_count_)) {
    const JointHistory& other = joints_[k];
    if (!is_passive_joint(k) || now_s_ - other.left_rest_s > within_s) continue;
    const double limit =
        std::max(kLateCounts, kLateRatio * own * bounds_[k].scale / bounds_[k].count_rad);
    const auto moved = static_cast<double>(std::abs(other.reference - other.rest_counts));
    if (!(moved < limit)) fail(TripCause::kLateEncoder, j, moved, limit);
  }
}

void EncoderMotionMonitor::check_sudden_stop(std::size_t j) noexcept {
  const JointHistory& joint = joints_[j];
  const double count = bounds_[j].count_rad;
  const double a = kAccelerationMax * bounds_[j].scale;
  const double honest = 3.0 * std::sqrt(count * a) + 1.5 * a * since_s_;
  const double travel = std::max(kUndetectedTravel * bounds_[j].scale, 8.0 * count);
  const double rest_s = now_s_ - joint.moved_s;
  if (joint.speed <= honest || joint.speed * rest_s <= travel) return;
  fail(TripCause::kFrozenEncoder, j, rest_s, travel / joint.speed);
}

void EncoderMotionMonitor::check_frozen_passive_joint(std::size_t j) noexcept {
  const JointHistory& joint = joints_[j];
  const double scale = bounds_[j].scale;
  const double in_phase = largest_recent_speed(j, kSpanCount, phase_since_s_);
  if (!(joint.rest.shaken_s <= kStoppedByCommandTime_s) &&
      !(in_phase <= kStoppedByCommandSpeed * scale)) {
    fail(TripCause::kFrozenEncoder, j, joint.rest.shaken_s, kStoppedByCommandTime_s);
  }
  if (joint.moved_s < changed_s_ || joint.rest.driven_s <= kFrictionRestTimeMin_s) return;
  const double fastest =  // under the present command
      largest_recent_speed(j, kSpanCount, std::max(changed_s_, phase_since_s_));
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
  if (!(ahead > -limit)) {
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
  if (!steady) joint.creep_step = step;  // first of a series of equal steps
  if (!steady) joint.creep_from = sample.counts[j];
  if (std::abs(step) >= kMoveCounts || joint.moving_spans > 0) ++joint.moving_spans;
  joint.creep_counts = sample.counts[j];
  joint.creep_s = now_s_;
  if (joint.creep_steady_s <= kCreepMax_s) return;
  const auto counts = static_cast<double>(std::abs(sample.counts[j] - joint.creep_from));
  fail(TripCause::kCreep, j, counts * bounds_[j].count_rad / joint.creep_steady_s, 0.0);
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

// An end stop reverses a joint, but no impact moves it at once.
void EncoderMotionMonitor::check_steps(std::size_t j, double angle_rad) noexcept {
  const JointHistory& joint = joints_[j];
  const double count = bounds_[j].count_rad;
  const CountStepDetector::Comparison single = joint.steps.compare_step();
  if (single.is_exceeded()) {
    fail(TripCause::kCountStep, j, single.value * count, single.limit * count);
  }
  const JointDrive& motion = bounds_[j].motion;
  if (motion.motor < 0 || is_at_end_stop(j, angle_rad)) return;
  const CountStepDetector::Comparison reversal = joint.steps.compare_reversal(
      joint.push_direction * motion.gain_sign * sign_of(motion.rad_per_count),
      now_s_ - joint.push_since_s);
  if (!reversal.is_exceeded()) return;
  fail(TripCause::kReversal, j, reversal.value * count, reversal.limit * count);
}

void EncoderMotionMonitor::check_repetition(std::size_t j, const MotionSample& sample) noexcept {
  const double u = command_[static_cast<std::size_t>(bounds_[j].motion.motor)];
  const std::int64_t reversed =
      repetitions_[j].add(sample.counts[j], u, now_s_, now_s_ - changed_s_, sample.is_open_loop);
  if (reversed == 0) return;
  fail(TripCause::kRepeatedCounts, j, static_cast<double>(reversed),
       CountRepetitionDetector::kReversedMax);
}

bool EncoderMotionMonitor::is_at_end_stop(std::size_t j, double angle_rad) const noexcept {
  const JointDrive& motion = bounds_[j].motion;
  const double reach = kUndetectedTravel * bounds_[j].scale + 2e-3 * joints_[j].speed;
  return angle_rad < motion.stop_rad_min + reach || angle_rad > motion.stop_rad_max - reach;
}

}  // namespace daq
