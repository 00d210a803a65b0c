#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

/// Limits of a rig, from its rig file. A scenario may ask for less, never for more.
struct SafetyLimits {
  double command_max = 0.0;                   ///< magnitude [unit of the control signal]
  double command_slew_per_s_max = 0.0;        ///< magnitude [unit of the control signal / s]
  double staleness_s_max = 0.0;               ///< longest time between two samples
  std::vector<JointLimits> joint;             ///< one per hinge with an encoder, at most kJointsMax
  std::vector<InertialLimits> inertial = {};  ///< one per inertial sensor of the unit
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
};
std::string_view to_string(TripCause cause);

/// Unit of a trip's value and limit: "rad/s", or "m/s" of a joint that slides; empty for numbers
/// without one.
std::string_view unit_of(TripCause cause, bool slides = false);

/// True for causes that lie in one hinge.
bool is_of_one_joint(TripCause cause);

/// True for causes that lie in one inertial sensor.
bool is_of_one_sensor(TripCause cause);
TripCause cause_of(InertialFault fault);

/// A trip with its figures. Latched: the first one stays.
struct Trip {
  TripCause cause = TripCause::kNone;
  std::uint8_t joint = 0;  ///< index of the hinge or the inertial sensor, for causes of one
  double time_s = 0.0;     ///< device time since the run started
  double value = 0.0;      ///< what was seen, in the unit of the limit
  double limit = 0.0;      ///< what is allowed
};

/// Name of the hinge or the inertial sensor that a trip lies in; empty where it lies in none.
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

  /// Command to send for this sample, given what the scenario asks for.
  double admit(const Observation& now, double requested) noexcept;

  /// Trips for a reason found elsewhere (the unit, the link). Does nothing when tripped already.
  /// @param index  of the inertial sensor, where it lies in one
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
  double clamp(const Observation& now, double requested) noexcept;

  struct JointBounds {
    double angle_rad_min, angle_rad_max, speed_rad_per_s_max, jump_rad_max, missing_s_max;
  };
  std::array<JointBounds, kJointsMax> bounds_{};
  std::array<JointMemory, kJointsMax> memory_{};
  std::size_t joint_count_ = 0;
  double command_max_;
  double command_slew_per_s_max_;
  double staleness_s_max_;

  Trip trip_;
  double last_command_ = 0.0;
  double last_time_s_ = 0.0;
  bool started_ = false;
};

}  // namespace daq
