#pragma once

#include <optional>
#include <span>
#include <vector>

#include "daq/safety/safety_limits.hpp"

namespace daq {

/// One sample of a motor test, in which the command is a pulse or a ramp.
struct TestPushSample {
  double time_s = 0.0;
  double command = 0.0;    ///< in effect from this sample on [unit of the control signal]
  double angle_rad = 0.0;  ///< of the motor's joint; [m] if it slides
};

/// Limits of joint motion in a motor test [rad], or [m] for a sliding joint.
struct TestPushLimits {
  double detectable_motion_rad = 0.0;  ///< smallest motion above flicker
  double end_motion_rad = 0.0;         ///< ends a pulse: enough to measure the acceleration
  double other_rad = 0.0;              ///< motion of any other joint that ends a pulse
};

/// Returns the limits of joint motion in a motor test: at most 0.2 rad or 20 mm, and at most a
/// twentieth of the joint's range. If this motion is less than a few encoder counts, the limit is a
/// few counts.
/// @param rad_per_count  joint motion per encoder count, magnitude [rad] or [m]
TestPushLimits compute_test_push_limits(const JointLimits& limits, double rad_per_count);

/// Response of the motor's joint to a command pulse or a command ramp.
struct TestPushResult {
  bool moved = false;
  double motion_rad = 0.0;     ///< of the joint until the end of the command, signed
  double acceleration = 0.0;   ///< from rest, by least squares over the push [rad/s²], signed
  double onset_command = 0.0;  ///< for a ramp: command at which the joint started to move, signed
};

/// Evaluates the joint's response to a pulse: a constant command until its end or reversal.
TestPushResult evaluate_pulse(std::span<const TestPushSample> samples,
                              double detectable_motion_rad);

/// Evaluates the joint's response to a linearly growing command. After breakaway the joint's angle
/// grows with the cube of time, so a straight line fits the cube root of the angle. The zero of
/// that line is the time of breakaway.
TestPushResult evaluate_ramp(std::span<const TestPushSample> samples, double detectable_motion_rad);

/// Measured properties of a motor, both directions combined.
struct MotorProperties {
  double level = 0.0;         ///< command of the pulses [unit of the control signal]
  double dead_band = 0.0;     ///< largest command without motion, larger value of both directions
  double acceleration = 0.0;  ///< κ, of the joint per unit of command beyond the dead band, signed
  std::optional<int> delay_ticks;  ///< median from a sample to the command that answers it
};

/// Limits of stall detection, given by safety { stall } in a rig file: the encoder of a driven
/// joint must count within this time.
struct StallLimits {
  double command = 0.0;  ///< command that surely moves the joint [unit of the control signal]
  double time_s = 0.0;   ///< longest time without a count at that command
};

/// Returns the largest motion of a joint until stall detection finds that its encoder does not
/// count [rad]. For a joint without friction this motion is ½ κ command time², where κ is the
/// joint's acceleration per unit of command.
double compute_undetected_motion(const MotorProperties& figures, const StallLimits& stall);

/// Returns whether stall limits are suitable for a motor. The limits must not trip while friction
/// holds the joint or while the joint starts to move. A joint whose encoder does not count must
/// move by at most 0.25 rad, or 25 mm, before the trip.
/// @param rad_per_count  joint motion per encoder count, magnitude [rad] or [m]
bool are_stall_limits_suitable(const StallLimits& stall, const MotorProperties& figures,
                               double rad_per_count, bool slides);

/// Returns suitable stall limits for a motor. The command is just above the dead band. The time
/// allows a motion of 0.1 rad (10 mm for a sliding joint), or of 8 counts if that takes longer.
StallLimits propose_stall_limits(const MotorProperties& figures, double command_max,
                                 double rad_per_count, bool slides);

/// @param positive, negative  responses to pulses at +level and −level
/// @param rise, fall          responses to ramps to +level and −level
MotorProperties compute_motor_properties(double level, const TestPushResult& positive,
                                         const TestPushResult& negative, const TestPushResult& rise,
                                         const TestPushResult& fall);

}  // namespace daq
