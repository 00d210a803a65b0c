#pragma once

#include <optional>
#include <span>
#include <vector>

#include "daq/safety/safety_limits.hpp"

namespace daq {

/// One sample of a pulse or a ramp.
struct NudgeSample {
  double time_s = 0.0;
  double command = 0.0;    ///< in force from this sample on [unit of the control signal]
  double angle_rad = 0.0;  ///< of the motor's joint; of one that slides read m
};

/// How far motors are tried.
struct NudgeLimits {
  double seen_rad = 0.0;   ///< smallest motion that is more than flicker
  double push_rad = 0.0;   ///< ends a pulse: enough for its acceleration
  double other_rad = 0.0;  ///< of any other joint, likewise
};

/// Motion of at most 0.2 rad, or 20 mm, and at most a twentieth of the joint's range.
/// @param rad_per_count  magnitude
NudgeLimits nudge_limits(const JointLimits& limits, double rad_per_count);

/// What a pulse or a ramp did to the motor's joint.
struct NudgeFinding {
  bool moved = false;
  double motion_rad = 0.0;     ///< until the command was taken off, signed
  double acceleration = 0.0;   ///< from rest, least squares over the push [rad/s²], signed
  double onset_command = 0.0;  ///< of a ramp: command at which the joint began to move, signed
};

/// Judges a pulse: a constant command that lasts until it is taken off or turned round.
NudgeFinding judge_pulse(std::span<const NudgeSample> samples, double seen_rad);

/// Judges a ramp. After breaking away the joint's angle grows as the cube of time, so the cube root
/// of the angle, a straight line, is followed back to zero.
NudgeFinding judge_ramp(std::span<const NudgeSample> samples, double seen_rad);

/// Both directions of a motor.
struct MotorFigures {
  double level = 0.0;              ///< command of the pulses [unit of the control signal]
  double dead_band = 0.0;          ///< largest of both directions
  double acceleration = 0.0;       ///< κ, per unit of the command beyond the dead band, signed
  std::optional<int> delay_ticks;  ///< from a sample to the command that answers it, median
};

/// When a joint whose encoder does not count although its motor pushes is a trip, safety { stall }.
struct StallLimits {
  double command = 0.0;  ///< moves the joint for certain [unit of the control signal]
  double time_s = 0.0;   ///< at that command
};

/// Motion without a count that limits allow: of a joint without friction, ½ κ command time² [rad].
double unseen_motion(const MotorFigures& figures, const StallLimits& stall);

/// Whether limits suit a motor: they do not trip while friction holds the joint or while it begins
/// to move, and they allow no more than 0.25 rad, or 25 mm, without a count.
/// @param rad_per_count  magnitude
bool suits(const StallLimits& stall, const MotorFigures& figures, double rad_per_count,
           bool slides);

/// Limits just above the dead band that allow 0.1 rad, or 10 mm, or what the encoder's resolution
/// needs.
StallLimits propose_stall(const MotorFigures& figures, double command_max, double rad_per_count,
                          bool slides);

/// @param positive, negative  pulses at +level and −level
/// @param rise, fall          ramps to them
MotorFigures motor_figures(double level, const NudgeFinding& positive, const NudgeFinding& negative,
                           const NudgeFinding& rise, const NudgeFinding& fall);

}  // namespace daq
