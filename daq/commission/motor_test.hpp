#pragma once

#include <optional>
#include <span>
#include <vector>

#include "daq/safety/safety_limits.hpp"

namespace daq {

/// One sample of a pulse or a ramp.
struct TestPushSample {
  double time_s = 0.0;
  double command = 0.0;    ///< in effect from this sample on [unit of the control signal]
  double angle_rad = 0.0;  ///< of the motor's joint; [m] if it slides
};

/// Motions that end a test of a motor.
struct TestPushLimits {
  double detectable_motion_rad = 0.0;  ///< smallest motion above flicker
  double end_motion_rad = 0.0;         ///< ends a pulse: enough to measure the acceleration
  double other_rad = 0.0;              ///< of any other joint, ends a pulse too
};

/// Returns a motion of at most 0.2 rad or 20 mm, and at most a twentieth of the joint's range.
/// @param rad_per_count  magnitude
TestPushLimits test_push_limits(const JointLimits& limits, double rad_per_count);

/// Response of the motor's joint to a pulse or a ramp.
struct TestPushResult {
  bool moved = false;
  double motion_rad = 0.0;     ///< until the end of the command, signed
  double acceleration = 0.0;   ///< from rest, by least squares over the push [rad/s²], signed
  double onset_command = 0.0;  ///< for a ramp: command at which the joint started to move, signed
};

/// Evaluates a pulse: a constant command until its end or reversal.
TestPushResult evaluate_pulse(std::span<const TestPushSample> samples,
                              double detectable_motion_rad);

/// Evaluates a ramp. After breakaway the joint's angle grows with the cube of time, so the line
/// through its cube root is extrapolated back to zero.
TestPushResult evaluate_ramp(std::span<const TestPushSample> samples, double detectable_motion_rad);

/// Measured properties of a motor, both directions combined.
struct MotorProperties {
  double level = 0.0;              ///< command of the pulses [unit of the control signal]
  double dead_band = 0.0;          ///< larger one of both directions
  double acceleration = 0.0;       ///< κ, per unit of the command beyond the dead band, signed
  std::optional<int> delay_ticks;  ///< median from a sample to the command that answers it
};

/// Limits of stall detection, safety { stall }: a driven joint must count in this time.
struct StallLimits {
  double command = 0.0;  ///< surely moves the joint [unit of the control signal]
  double time_s = 0.0;   ///< longest time without a count at that command
};

/// Returns the largest motion without a count, of a joint without friction: ½ κ command time²
/// [rad].
double undetected_motion(const MotorProperties& figures, const StallLimits& stall);

/// Returns whether limits suit a motor: they do not trip while friction holds the joint or while it
/// starts to move, and allow at most 0.25 rad, or 25 mm, without a count.
/// @param rad_per_count  magnitude
bool is_suitable(const StallLimits& stall, const MotorProperties& figures, double rad_per_count,
                 bool slides);

/// Returns limits just above the dead band that allow 0.1 rad, 10 mm or 8 counts.
StallLimits propose_stall_limits(const MotorProperties& figures, double command_max,
                                 double rad_per_count, bool slides);

/// @param positive, negative  pulses at +level and −level
/// @param rise, fall          ramps to them
MotorProperties compute_motor_properties(double level, const TestPushResult& positive,
                                         const TestPushResult& negative, const TestPushResult& rise,
                                         const TestPushResult& fall);

}  // namespace daq
