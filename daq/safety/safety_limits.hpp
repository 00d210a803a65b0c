#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "daq/safety/inertial_monitor.hpp"
#include "daq/scenario/observation.hpp"

namespace daq {

/// Safety limits of one joint. For a sliding joint the unit is m instead of rad.
struct JointLimits {
  std::string joint;                 ///< name, for messages
  double angle_rad_min = 0.0;        ///< inclusive
  double angle_rad_max = 0.0;        ///< inclusive
  double speed_rad_per_s_max = 0.0;  ///< magnitude
  double jump_rad_max = 0.0;         ///< magnitude of the change between two samples
  double missing_s_max = 0.0;        ///< longest time without a valid angle
  bool slides = false;
};

/// Safety limits of one motor's command.
struct MotorLimits {
  std::string joint;                    ///< name, for messages
  double command_max = 0.0;             ///< magnitude [unit of the control signal]
  double command_slew_per_s_max = 0.0;  ///< magnitude [unit of the control signal / s]
};

/// Default stall limits of a driven joint: the command as a share of the motor's command_max, and
/// the longest time without a count.
inline constexpr double kStallShareDefault = 0.05;
inline constexpr double kStallTimeDefault_s = 0.65;

/// Properties of a joint that the encoder checks need: encoder scale, motor, stall limits and end
/// stops. For a sliding joint the unit is m instead of rad.
struct JointDrive {
  double rad_per_count = 0.0;  ///< negative for an inverted encoder
  int motor = -1;              ///< index of its motor in the unit's order; −1: none
  double gain_sign = 1.0;      ///< −1: a positive command moves it in the negative direction
  double stall_command =
      0.0;  ///< magnitude of a command that surely moves it [unit of control signal]
  double stall_time_s = 0.0;   ///< longest time at that command without a count
  bool is_unaffected = false;  ///< the joint has no motor and may rest while others move
  double stop_rad_min = -std::numeric_limits<double>::infinity();  ///< end stops
  double stop_rad_max = std::numeric_limits<double>::infinity();
};

/// Safety limits of a rig, from its rig file. A scenario may lower them but not raise them.
struct SafetyLimits {
  std::vector<MotorLimits> motor;             ///< one per motor of the unit, at most kMotorsMax
  double staleness_s_max = 0.0;               ///< longest time between two samples
  std::vector<JointLimits> joint;             ///< one per joint with an encoder, at most kJointsMax
  std::vector<InertialLimits> inertial = {};  ///< one per inertial sensor of the unit
  double unstored_s_max = 1.0;                ///< longest time without storing data
  std::vector<JointDrive> motion = {};        ///< one per joint; empty: motion is not checked
};

/// Returns the errors in safety limits as sentences that name the field; empty if there are none.
std::vector<std::string> find_limit_errors(const SafetyLimits& limits);

/// Cause of a trip, which switches the output of all motors off.
enum class TripCause : std::uint8_t {
  kNone,
  kAngle,
  kSpeed,
  kEncoderJump,
  kMissingChannel,
  kStaleSample,
  kCommandNotFinite,
  kUnitTripped,    ///< the unit switched off by itself
  kClearRefused,   ///< the unit did not clear its trip on request
  kUnitRestarted,  ///< the unit's samples do not continue the stream
  kLinkLost,
  kPortClosed,  ///< the operating system reports that the line is gone
  kInertialMissing,
  kInertialStuck,
  kInertialSaturated,
  kHostPaused,        ///< this computer did not run the loop
  kRecordingStalled,  ///< no data reach the disk
  kRingFull,          ///< more unrecorded samples than the ring can hold
  kStall,             ///< no counts although the joint's motor drives
  kFrozenEncoder,     ///< counts stopped in the middle of a motion
  kNoResponse,        ///< no counts of a passive joint although a driven one moves
  kLateEncoder,       ///< no counts of a driven joint although it set a passive one in motion
  kWrongDirection,    ///< a driven joint moves against its motor
  kCountStep,         ///< a single step of the counts that no motion causes
  kReversal,          ///< the speed reverses at once, against the motor
  kRepeatedCounts,    ///< counts repeat earlier ones exactly
  kCreep,             ///< counts drift before anything is driven
  kGrowingSwings,     ///< growing swings without drive
  kCommandMismatch,   ///< the output reported by the unit differs from the sent command
  kStaleCommand,      ///< the command in effect is older than its time to live
  kFaultMismatch,     ///< the unit's status contradicts its fault flags
  kSampleAge,         ///< a sample arrived too late, or before it can have been taken
  kUnitClock,         ///< the unit's clock rate differs from this computer's, or is unknown
};
std::string_view to_string(TripCause cause);

/// Returns the physical unit of a trip's measured value and limit, such as "rad/s" or "m/s"; empty
/// if there is none.
std::string_view trip_unit(TripCause cause, bool slides = false);

/// Returns whether a trip of this cause concerns one joint.
bool concerns_joint(TripCause cause);

/// Returns whether a trip of this cause concerns one motor.
bool concerns_motor(TripCause cause);

/// Returns whether a trip of this cause concerns one inertial sensor.
bool concerns_inertial_sensor(TripCause cause);
TripCause to_trip_cause(InertialFault fault);

/// Trip of a run: the cause, the measured value and the exceeded limit. Only the first trip of a
/// run is stored.
struct Trip {
  TripCause cause = TripCause::kNone;
  std::uint8_t joint =
      0;                ///< index of the joint, motor or inertial sensor, if the cause concerns one
  double time_s = 0.0;  ///< device time since the run started
  double value = 0.0;   ///< measured value, in the unit of the limit
  double limit = 0.0;   ///< largest allowed value
  double pause_s = 0.0;  ///< longest pause of this computer in the last second
};

/// Returns the name of the joint, motor or inertial sensor that a trip concerns; empty if none.
std::string find_trip_subject(const Trip& trip, const SafetyLimits& limits);

/// Describes a trip for users: "pendulum: speed 41.2 rad/s exceeds 40 rad/s at t = 3.141 s".
std::string describe_trip(const Trip& trip, const SafetyLimits& limits);

/// Returns the remedy for a trip before any motor was driven whose cause is a joint outside its
/// range. Such a trip occurs if encoders continue to count from the end of the last run. Empty for
/// any other trip.
std::string describe_start_remedy(const Trip& trip, const SafetyLimits& limits);

/// Returns the unit's fault flags (firmware_iface/wire/fault.h) in words; empty if none is set.
std::string describe_fault_flags(unsigned flags);

/// Checks every sample of a run against the safety limits, and limits the commands of the motors.
/// Real-time safe: no allocation, no exceptions.
///
/// A requested command beyond its magnitude or slew limit is clamped. Any other violation trips.
/// After a trip the output stays zero: only a new run, which explicitly clears the unit's trip, can
/// drive again. A NaN or infinity in a sample, request or limit trips too.
class SafetyMonitor {
 public:
  explicit SafetyMonitor(const SafetyLimits& limits);

  /// Returns the commands to send in reply to a sample: the requested commands, clamped to the
  /// limits; zero for unused motors and after a trip.
  MotorCommands limit_commands(const Observation& now, const MotorCommands& requested) noexcept;

  /// Trips if this computer paused for too long or has stored no data for too long. To be called
  /// once per period of the control loop.
  /// @param pause_s     delay of the loop by the host's clock
  /// @param unstored_s  time since data were last stored
  void trip_on_host_pause(double time_s, double pause_s, double unstored_s) noexcept;

  /// Records a trip whose cause another class detected (unit, link). Does nothing after a trip.
  /// @param index  of the motor or inertial sensor concerned, if any
  void trip(TripCause cause, double time_s, double value, double limit,
            std::uint8_t index = 0) noexcept;

  bool is_tripped() const noexcept { return trip_.cause != TripCause::kNone; }
  const Trip& current_trip() const noexcept { return trip_; }

 private:
  struct LastJointReading {
    double angle_rad = 0.0;
    double valid_time_s = 0.0;
    bool seen = false;
  };

  void check_joint(std::size_t index, const Observation& now) noexcept;
  void check_staleness(const Observation& now) noexcept;
  double clamp(std::size_t motor, const Observation& now, double requested) noexcept;

  struct JointBounds {
    double angle_rad_min, angle_rad_max, speed_rad_per_s_max, jump_rad_max, missing_s_max;
  };
  std::array<JointBounds, kJointsMax> bounds_{};
  std::array<LastJointReading, kJointsMax> memory_{};
  std::size_t joint_count_ = 0;
  struct CommandBounds {
    double command_max, command_slew_per_s_max;
  };
  std::array<CommandBounds, kMotorsMax> command_bounds_{};
  std::size_t motor_count_ = 0;
  double staleness_s_max_;
  double unstored_s_max_;

  Trip trip_;
  double pause_s_ = 0.0;  // longest recent pause and its time
  double pause_time_s_ = 0.0;
  MotorCommands last_commands_{};
  double last_time_s_ = 0.0;
  bool started_ = false;
};

}  // namespace daq
