#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "daq/safety/count_repetition.hpp"
#include "daq/safety/count_steps.hpp"
#include "daq/safety/safety_limits.hpp"
#include "daq/safety/swing_growth.hpp"
#include "daq/scenario/observation.hpp"

namespace daq {

/// Phase of a run, which determines the motions that are plausible.
enum class MotionPhase : std::uint8_t {
  kWatched,   ///< before the run: nothing is driven and nobody touches the rig
  kHandled,   ///< an operator moves the rig, or the run is over: any motion is plausible
  kDriven,    ///< the output is enabled
  kReleased,  ///< the rig moves freely
};

/// One sample, as input of EncoderMotionMonitor.
struct MotionSample {
  const Observation& now;
  std::span<const std::int64_t> counts;  ///< of each joint's encoder, unwrapped
  std::span<const double> command;       ///< of each motor, in effect from this sample on
  MotionPhase phase = MotionPhase::kHandled;
  bool is_open_loop = true;  ///< the scenario's commands depend on time alone
};

/// Checks whether the motion measured by the encoders is plausible for the commands of the motors.
/// All other safety limits assume that an encoder counts if and only if its joint moves. Real-time
/// safe: no allocation, no exceptions. A NaN fails each check.
///
/// Symbols in the comments of this class: q is one count [rad], u the command, κ the joint's
/// acceleration per unit of the command [rad/s²]. For a sliding joint the unit is m instead of rad,
/// and thresholds are a tenth.
class EncoderMotionMonitor {
 public:
  explicit EncoderMotionMonitor(const SafetyLimits& limits);

  /// Adds a sample. Returns a trip for the first check that fails, with cause kNone if none fails.
  Trip add(const MotionSample& sample) noexcept;

  /// Returns whether a joint moves at a constant speed before the run, or has just begun to move,
  /// although no motor drives. The run must then wait or trip.
  bool may_creep() const noexcept;

 private:
  // At the edge between two counts an encoder alternates by one, with a broken channel forever. So
  // only two counts from the last position are motion.
  static constexpr std::int64_t kMoveCounts = 2;
  static constexpr std::int64_t kNearCounts = 8;  // of a position
  static constexpr double kRest_s = 0.2;       // without motion, until a joint is at rest
  static constexpr double kRecent_s = 0.3125;  // a speed of this age predicts a turning point
  // Largest acceleration of a joint by motors, friction and other joints, without an impact
  // [rad/s²].
  static constexpr double kAccelerationMax = 200.0;
  static constexpr std::size_t kSpanCount = 5;
  static constexpr std::size_t kMoveHistory = 3;
  enum class FirstMotionState : std::uint8_t { kWaiting, kMoving, kDone };

  struct CountChange {
    double time_s = 0.0;
    std::int64_t counts = 0;
  };

  /// A short time interval in which a joint moved.
  struct SpeedInterval {
    double since_s = 0.0;
    double speed = 0.0;  // mean, magnitude [rad/s]
  };

  /// Motion that a motor would cause from rest without friction and load, divided by κ.
  struct FreeMotion {
    double impulse = 0.0;  // ∫u dt
    double reach = 0.0;    // ∫∫u dt²
  };

  /// Free motions by the pushes of a joint's own motor. A push is a command of one sign.
  struct Pushes {
    FreeMotion total;
    FreeMotion last;       // since the command last changed its sign, from rest
    // Sum of the reaches of earlier pushes, without those that must not be counted.
    double earlier = 0.0;

    void add(double u, double since_s, const JointDrive& motion) noexcept;
    /// Returns the reach that moves a joint unless other joints take up the torque.
    double reach() const noexcept;
  };

  /// Durations and integrals of the motor commands since a joint's last motion.
  struct DriveSinceMotion {
    double driven_s = 0.0;  // time in which any motor drove
    double shaken_s = 0.0;  // part of driven_s in which a command changed
    double pushed_s = 0.0;  // part of driven_s in which the joint's own motor drove
    Pushes pushes;
    std::optional<bool> rig_moved{};  // any joint, when the own motor was first commanded
  };

  /// Pushes since a joint came near its present position.
  struct DriveNearPosition {
    std::int64_t counts = 0;  // of the position
    Pushes pushes;
  };

  struct JointHistory {
    bool seen = false;
    double first_s = 0.0;                                           // time of the first reading
    std::int64_t reference = 0;                                     // counts at the last motion
    double moved_s = 0.0;                                           // time of the last motion
    std::int64_t rest_counts = 0;                                   // counts at its last rest
    double left_rest_s = -std::numeric_limits<double>::infinity();  // end of that rest
    double speed = 0.0;  // magnitude, over the last motions [rad/s]
    std::array<CountChange, kMoveHistory> motions{};
    std::size_t next_motion = 0;
    DriveSinceMotion rest;
    DriveNearPosition near;

    std::int64_t span_counts = 0;
    double span_s = 0.0;
    std::array<SpeedInterval, kSpanCount> spans{};  // the last ones with motion
    std::size_t next_span = 0;

    double steady_command = 0.0;  // of its motor
    double commanded_s = -1.0;    // time of the last command of its motor other than zero

    bool awaits_response = false;  // waits for passive joints to respond to its motor's push
    double idle_s = 0.0;           // last time at which its motor did not push
    double last_push_s = 0.0;
    double pushed_s = 0.0;  // time of the last change of command; position and speed at it
    double pushed_rad = 0.0;
    double pushed_speed = 0.0;
    std::int64_t origin = 0;     // counts when a motor started to push
    std::int64_t excursion = 0;  // largest distance from there since
    bool rested = false;         // it was at rest then

    FirstMotionState start = FirstMotionState::kDone;
    double start_command = 0.0;    // sign of the last nonzero command
    bool start_is_mixed = false;   // commands of both signs occurred
    double start_direction = 0.0;  // direction of the command, +1 or −1
    std::int64_t start_counts = 0;
    bool start_drifts = false;  // it already moved
    double start_drift = 0.0;   // speed of that motion [counts/s]
    double start_s = 0.0;

    std::int64_t creep_counts = 0;
    std::int64_t creep_step = 0;
    std::int64_t creep_from = 0;  // counts at the beginning of the equal steps
    double creep_s = 0.0;
    double creep_steady_s = 0.0;
    int moving_spans = 0;  // of kCreepSpan_s since the first motion before the run

    SwingGrowthDetector swings;
    CountStepDetector steps;
    double push_direction = 0.0;  // sign of its motor's command, 0 below the stall command
    double push_since_s = 0.0;    // since when
  };

  struct JointProperties {
    JointDrive motion;
    double count_rad;  // size of a count
    double scale;      // 1, or 0.1 for a sliding joint
    double counts_per_turn;
  };

  static double sign_of(double value) noexcept {
    return value < 0.0 ? -1.0 : value > 0.0 ? 1.0 : 0.0;
  }

  void update_command_history(const MotionSample& sample) noexcept;
  void update_run_phase(const MotionSample& sample) noexcept;
  void update_motor_pushes(std::size_t j, const MotionSample& sample) noexcept;
  void update_rig_motion(std::size_t j) noexcept;
  void update_encoder(std::size_t j, const MotionSample& sample) noexcept;
  void update_push(std::size_t j, const MotionSample& sample) noexcept;
  void store_push_start(std::size_t j, const JointState& state) noexcept;
  void start(std::size_t j, double pushed, std::int64_t counts, double drift) noexcept;
  void begin_motion(std::size_t j, double rested_s) noexcept;
  bool is_driven(std::size_t j) const noexcept;
  bool is_passive_joint(std::size_t j) const noexcept;
  /// Returns the largest mean speed among the joint's last time intervals with motion, if they
  /// began at `since_s` or later [rad/s].
  double largest_recent_speed(std::size_t j, std::size_t span_count, double since_s) const noexcept;
  /// Returns ∫∫u dt² of the stall limits: the stall command during the stall time.
  static double stall_reach(const JointDrive& motion) noexcept;
  bool is_at_end_stop(std::size_t j, double angle_rad) const noexcept;

  void check_late_start(std::size_t j) noexcept;
  void check_stall(std::size_t j) noexcept;
  void check_small_motion(std::size_t j) noexcept;
  void fail_stall(std::size_t j, double reach, double stall_limits) noexcept;
  void check_sudden_stop(std::size_t j) noexcept;
  void check_frozen_passive_joint(std::size_t j) noexcept;
  void check_response(std::size_t j, const MotionSample& sample) noexcept;
  void check_direction(std::size_t j, const MotionSample& sample) noexcept;
  void check_creep(std::size_t j, const MotionSample& sample) noexcept;
  void check_growing_swings(std::size_t j, const MotionSample& sample) noexcept;
  void check_steps(std::size_t j, double angle_rad) noexcept;
  void check_repetition(std::size_t j, const MotionSample& sample) noexcept;
  void fail(TripCause cause, std::size_t j, double value, double limit) noexcept;

  std::array<JointProperties, kJointsMax> bounds_{};
  std::array<JointHistory, kJointsMax> joints_{};
  std::vector<CountRepetitionDetector> repetitions_;  // of each joint
  std::size_t joint_count_ = 0;
  MotorCommands command_{};  // in effect until the next sample
  MotionPhase phase_ = MotionPhase::kHandled;
  double phase_since_s_ = 0.0;
  bool started_ = false;
  double now_s_ = 0.0;
  double since_s_ = 0.0;
  double changed_s_ = 0.0;  // last change of a motor's command
  Trip found_;
};

}  // namespace daq
