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

/// Limits of one hinge. Of a joint that slides read m for rad.
struct JointLimits {
  std::string hinge;                 ///< name, for messages
  double angle_rad_min = 0.0;        ///< inclusive
  double angle_rad_max = 0.0;        ///< inclusive
  double speed_rad_per_s_max = 0.0;  ///< magnitude
  double jump_rad_max = 0.0;         ///< magnitude of the change from one sample to the next
  double missing_s_max = 0.0;        ///< longest time without a valid angle
  bool slides = false;
};

/// Limits of one motor's command.
struct MotorLimits {
  std::string joint;                    ///< name, for messages
  double command_max = 0.0;             ///< magnitude [unit of the control signal]
  double command_slew_per_s_max = 0.0;  ///< magnitude [unit of the control signal / s]
};

/// Stall limits of a joint for which the rig file states none: the command as a share of the
/// largest, and the time.
inline constexpr double kStallShareDefault = 0.05;
inline constexpr double kStallTimeDefault_s = 0.65;

/// How a joint is driven and where it stops, for the checks of its encoder. Of a joint that slides
/// read m for rad.
struct JointMotion {
  double rad_per_count = 0.0;  ///< negative for an inverted encoder
  int motor = -1;              ///< that drives it, in the unit's order; −1: none
  double gain_sign = 1.0;      ///< −1: a positive command moves it the negative way
  double stall_command = 0.0;  ///< magnitude of a command that moves it [unit of control signal]
  double stall_time_s = 0.0;   ///< longest time at that command without a count
  bool is_unaffected = false;  ///< without a motor, and may rest while others move
  double stop_rad_min = -std::numeric_limits<double>::infinity();  ///< end stops
  double stop_rad_max = std::numeric_limits<double>::infinity();
};

/// Limits of a rig, from its rig file. A scenario may ask for less, never for more.
struct SafetyLimits {
  std::vector<MotorLimits> motor;             ///< one per motor of the unit, at most kMotorsMax
  double staleness_s_max = 0.0;               ///< longest time between two samples
  std::vector<JointLimits> joint;             ///< one per hinge with an encoder, at most kJointsMax
  std::vector<InertialLimits> inertial = {};  ///< one per inertial sensor of the unit
  double unstored_s_max = 1.0;                ///< longest time in which nothing is stored
  std::vector<JointMotion> motion = {};       ///< one per joint; none: motion is not checked
};

/// What is wrong with the limits, one sentence each naming the field; empty when nothing is.
std::vector<std::string> find_faults(const SafetyLimits& limits);

/// Why the output was switched off.
enum class TripCause : std::uint8_t {
  kNone,
  kAngle,
  kSpeed,
  kEncoderJump,
  kMissingChannel,
  kStaleSample,
  kCommandNotFinite,
  kUnitTripped,    ///< the unit switched off by itself
  kClearRefused,   ///< the unit did not end its trip when asked to
  kUnitRestarted,  ///< its samples no longer continue the stream
  kLinkLost,
  kPortClosed,  ///< the operating system says that the line is gone
  kInertialMissing,
  kInertialStuck,
  kInertialSaturated,
  kHostPaused,        ///< this computer did not run the loop
  kRecordingStalled,  ///< nothing reaches the disk
  kRingFull,          ///< more samples wait to be recorded than memory is set aside for
  kStall,             ///< no count although the joint's motor drives
  kFrozenEncoder,     ///< no count any more in the middle of a motion
  kNoResponse,        ///< no count of a passive joint although a driven one moves
  kWrongDirection,    ///< a driven joint moves against its motor
  kCreep,             ///< counts that drift before anything is driven
  kGrowingSwings,     ///< without drive
  kCommandMismatch,   ///< the output that the unit reports is not the one that was sent
  kStaleCommand,      ///< the command in force is older than its time to live
  kFaultMismatch,     ///< the unit's status and its fault flags contradict one another
  kSampleAge,         ///< a sample was under way for too long, or came before its time
  kUnitClock,         ///< runs at another rate than this computer's, or at an unknown one
};
std::string_view to_string(TripCause cause);

/// Unit of a trip's value and limit: "rad/s", or "m/s" of a joint that slides; empty for numbers
/// without one.
std::string_view unit_of(TripCause cause, bool slides = false);

/// True for causes that lie in one hinge.
bool is_of_one_joint(TripCause cause);

/// True for causes that lie in one motor.
bool is_of_one_motor(TripCause cause);

/// True for causes that lie in one inertial sensor.
bool is_of_one_sensor(TripCause cause);
TripCause cause_of(InertialFault fault);

/// A trip with its figures. Latched: the first one stays.
struct Trip {
  TripCause cause = TripCause::kNone;
  std::uint8_t joint = 0;  ///< index of the joint, motor or inertial sensor, for causes of one
  double time_s = 0.0;     ///< device time since the run started
  double value = 0.0;      ///< what was seen, in the unit of the limit
  double limit = 0.0;      ///< what is allowed
  double pause_s = 0.0;    ///< longest pause of this computer in the second before
};

/// Name of the joint, the motor's joint or the inertial sensor that a trip lies in; empty where it
/// lies in none.
std::string place_of(const Trip& trip, const SafetyLimits& limits);

/// "pendulum: speed 41.2 rad/s exceeds 40 rad/s at t = 3.141 s", for people.
std::string describe(const Trip& trip, const SafetyLimits& limits);

/// What to do about a hinge that stood outside its range before anything was driven, as after a run
/// that ended in full swing: encoders count on from where it left them. Empty for any other trip.
std::string advise_before_start(const Trip& trip, const SafetyLimits& limits);

/// Fault flags of the unit (firmware_iface/wire/fault.h) in words; empty when none is set.
std::string describe_fault_flags(unsigned flags);

/// Judges every sample and decides what may be sent. Real-time safe: no allocation, no exceptions.
///
/// A request beyond the command or slew limit is clamped and counted; everything else trips. After
/// a trip the output is zero for good: only a new run, with its explicit clearing of the unit,
/// starts again. A number that is none, in a sample, a request or a limit, trips as well.
class SafetyMonitor {
 public:
  explicit SafetyMonitor(const SafetyLimits& limits);

  /// Commands to send for this sample, given what the scenario asks for. Zero beyond the motors.
  MotorCommands admit(const Observation& now, const MotorCommands& requested) noexcept;

  /// Judges this computer, at each look of the loop.
  /// @param pause_s     by how much the look came late, by the host's clock
  /// @param unstored_s  since anything was stored last
  void check_host(double time_s, double pause_s, double unstored_s) noexcept;

  /// Trips for a reason found elsewhere (the unit, the link). Does nothing when tripped already.
  /// @param index  of the motor or the inertial sensor, where it lies in one
  void trip(TripCause cause, double time_s, double value, double limit,
            std::uint8_t index = 0) noexcept;

  bool is_tripped() const noexcept { return trip_.cause != TripCause::kNone; }
  const Trip& current_trip() const noexcept { return trip_; }

 private:
  struct JointMemory {
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
  std::array<JointMemory, kJointsMax> memory_{};
  std::size_t joint_count_ = 0;
  struct CommandBounds {
    double command_max, command_slew_per_s_max;
  };
  std::array<CommandBounds, kMotorsMax> command_bounds_{};
  std::size_t motor_count_ = 0;
  double staleness_s_max_;
  double unstored_s_max_;

  Trip trip_;
  double pause_s_ = 0.0;  // the longest of late, and when it was
  double pause_time_s_ = 0.0;
  MotorCommands last_commands_{};
  double last_time_s_ = 0.0;
  bool started_ = false;
};

}  // namespace daq
