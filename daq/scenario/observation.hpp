#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>

namespace daq {

/// Joints with an encoder that a rig may have: the channels of one conversion unit.
inline constexpr std::size_t kJointsMax = 16;

/// Motors that a rig may have: those of one conversion unit.
inline constexpr std::size_t kMotorsMax = 8;

/// One command for each motor, in the unit's order and in the motor's own unit; 0 beyond the last.
using MotorCommands = std::array<double, kMotorsMax>;

/// One measured hinge. The angle is unwrapped, with the rig file's sign and offset applied.
struct JointState {
  double angle_rad = 0.0;
  double speed_rad_per_s = 0.0;
  bool valid = false;  ///< false: the channel was missing; angle and speed are the last known ones
};

/// What the loop and the safety limits see of one sample.
struct Observation {
  double time_s = 0.0;  ///< device time since the run started
  std::array<JointState, kJointsMax> joint{};
};

/// What a scenario sees of one sample, of a rig or of a simulation with any number of hinges.
/// Refers to the joints it is made from.
struct Moment {
  double time_s = 0.0;  ///< since the run started
  std::span<const JointState> joint;

  Moment(double time, std::span<const JointState> joints) : time_s(time), joint(joints) {}
  Moment(const Observation& sample) : time_s(sample.time_s), joint(sample.joint) {}
};

/// How far one angle is from another, taken on the circle [rad]: what hangs or stands may have come
/// there from either side.
inline double turn_difference(double angle_rad, double other_rad) noexcept {
  return std::remainder(angle_rad - other_rad, 2.0 * std::numbers::pi);
}

/// How far a scenario has come. The supervisor turns it into words for the operator.
enum class Phase {
  kWaitingForHold,     ///< the operator is to bring the hinge to the stated angle
  kWaitingForRelease,  ///< the operator is to let go
  kRunning,
  kFinished,
};

}  // namespace daq
