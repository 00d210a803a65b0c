#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "daq/scenario/observation.hpp"

namespace daq {

/// Settings of a pendulum's swing-up by energy shaping [AF00]. With θ the pendulum's angle (0
/// hanging), w its speed and w₀ its small-oscillation frequency, the normalized energy is E = w²/(2
/// w₀²) − cos θ, −1 hanging at rest and 1 upright at rest. The command is gain · (1 − E) · sign(w
/// cos θ), limited to command_max. Near upright the command is zero: the pendulum swings over the
/// top and is not caught.
///
/// [AF00] K. J. Åström, K. Furuta, Swinging up a pendulum by energy control, Automatica 36(2),
/// 2000.
struct SwingUpSettings {
  std::size_t pendulum = 0;           // joint to swing up
  double energy_gain = 0.0;           // [unit of the control signal]; its sign depends on the rig
  double command_max = 0.0;           // [unit of the control signal]
  double natural_frequency_Hz = 0.0;  // w₀ / 2π
  double stop_angle_rad = 0.0;        // the command is zero within this distance of upright
  double kick_command = 0.0;  // first command: a pendulum at rest has no direction to pump in
  double kick_time_s = 0.0;
};

class SwingUp {
 public:
  explicit SwingUp(const SwingUpSettings& settings) : settings_(settings) {}

  double compute_command(const ScenarioInput& now) const noexcept;
  double command_peak() const noexcept;
  std::vector<std::string> validation_errors() const;

 private:
  SwingUpSettings settings_;
};

/// Settings of position feedback, which keeps the joint of a motor near a setpoint. Its command is
/// added to the other excitation of the motor:
///   proportional_gain (setpoint − angle) − derivative_gain · speed, limited to command_max.
/// For a sliding joint the unit is m instead of rad.
struct PositionFeedbackSettings {
  std::size_t joint = 0;  // joint of the motor
  double setpoint_rad = 0.0;
  // Their sign depends on the rig: negative if a positive command decreases the angle.
  double proportional_gain = 0.0;  // [unit of the control signal/rad]
  double derivative_gain = 0.0;    // [unit of the control signal · s/rad]
  double command_max = 0.0;        // [unit of the control signal]
};

class PositionFeedback {
 public:
  explicit PositionFeedback(const PositionFeedbackSettings& settings) : settings_(settings) {}

  /// Returns the feedback command; zero if the reading of the joint is missing.
  double compute_command(const ScenarioInput& now) const noexcept;
  double command_peak() const noexcept { return settings_.command_max; }
  std::vector<std::string> validation_errors() const;

 private:
  PositionFeedbackSettings settings_;
};

/// Settings of a release experiment, a run without commands. First the operator holds a joint near
/// a given angle or position, then releases the joint. The run ends when every joint is at rest. A
/// simulation has no operator and starts from the initial state of the joints.
struct ReleaseSettings {
  bool has_operator = true;
  std::size_t joint = 0;
  std::size_t joint_count = 1;
  std::vector<bool> slides = {};  // sliding joints: read m for rad; empty: all turn
  double held_angle_rad = 0.0;    // of the held joint, or its position
  double held_tolerance_rad = 0.1;
  double rest_speed_rad_per_s = 0.0;  // 0: do not wait for rest, run for the duration
  double rest_speed_m_per_s = 0.0;
  double rest_time_s = 1.0;
};

/// Joint that an operator must hold, with the angle and its tolerance. For a sliding joint the unit
/// is m instead of rad.
struct HeldJoint {
  std::size_t joint = 0;
  bool slides = false;
  double angle_rad = 0.0;
  double tolerance_rad = 0.0;
};

class Release {
 public:
  explicit Release(const ReleaseSettings& settings)
      : settings_(settings),
        phase_(settings.has_operator ? ScenarioPhase::kWaitingForHold : ScenarioPhase::kRunning) {}

  double compute_command(const ScenarioInput& now) noexcept;
  double command_peak() const noexcept { return 0.0; }
  ScenarioPhase phase() const noexcept { return phase_; }
  std::vector<std::string> validation_errors() const;
  HeldJoint held_joint() const {
    return {settings_.joint, is_sliding(settings_.joint), settings_.held_angle_rad,
            settings_.held_tolerance_rad};
  }

 private:
  bool is_joint_held(const JointState& joint) const noexcept;
  bool is_at_rest(const ScenarioInput& now) const noexcept;
  bool has_complete_readings(const ScenarioInput& now) const noexcept;
  bool is_sliding(std::size_t joint) const noexcept {
    return joint < settings_.slides.size() && settings_.slides[joint];
  }
  bool waits_for_rest() const noexcept {
    return settings_.rest_speed_rad_per_s > 0.0 || settings_.rest_speed_m_per_s > 0.0;
  }

  ReleaseSettings settings_;
  ScenarioPhase phase_;
  double since_s_ = -1.0;  // since when the joint is held, or all are at rest; negative: not
  double known_s_ = -1.0;  // time of the last complete readings
};

/// Settings of test pushes, the first test of an unknown motor. A test push applies a command until
/// a joint has moved a little. The opposite command then brakes that joint until it stops, for at
/// most as long as the first command. Further pushes follow in alternating directions; near an end
/// of the joint's range, they push the joint away from this end. Each push starts when the joint is
/// at rest, or after a time limit. If the joint drifts toward an end of its range, the next push
/// begins at once and returns the joint.
struct TestPushSettings {
  std::size_t joint = 0;  // joint of the motor
  std::size_t joint_count = 1;
  std::vector<bool> slides = {};  // sliding joints; empty: all turn
  double level = 0.0;             // command, reached after rise_s [unit of the control signal]
  double rise_s = 0.0;            // 0: immediately
  double push_s_max = 0.0;        // longest time of the command, with or without motion
  double motion_rad = 0.0;        // motion of the joint that ends the push; [m] if it slides
  double other_motion_rad = 0.0;  // motion of any other turning joint that ends the push
  double other_motion_m = 0.0;    // motion of any other sliding joint that ends the push
  // Range of the joint, from whose ends the pushes stay away [rad]; [m] if it slides.
  double lowest_rad = -std::numeric_limits<double>::infinity();
  double highest_rad = std::numeric_limits<double>::infinity();
  double rest_s = 0.1;            // time without a command after each push
  int count = 1;                  // number of pushes
};

class TestPush {
 public:
  explicit TestPush(const TestPushSettings& settings) : settings_(settings) {}

  double compute_command(const ScenarioInput& now) noexcept;
  double command_peak() const noexcept;
  ScenarioPhase phase() const noexcept {
    return stage_ == TestPushStage::kOver ? ScenarioPhase::kFinished : ScenarioPhase::kRunning;
  }
  std::vector<std::string> validation_errors() const;

 private:
  enum class TestPushStage { kBegin, kPush, kBrake, kRest, kOver };

  bool is_sliding(std::size_t joint) const noexcept {
    return joint < settings_.slides.size() && settings_.slides[joint];
  }
  double room_toward(double direction, double from_rad) const noexcept;
  double motion_limit(double direction) const noexcept;
  void choose_direction() noexcept;
  bool has_moved(const ScenarioInput& now) const noexcept;
  bool is_resting(const ScenarioInput& now) const noexcept;
  bool is_drifting_to_an_end(const ScenarioInput& now) const noexcept;
  void end_rest(const ScenarioInput& now, double passed_s) noexcept;
  bool has_stopped(const ScenarioInput& now) noexcept;
  void enter(TestPushStage stage, double time_s) noexcept;

  TestPushSettings settings_;
  TestPushStage stage_ = TestPushStage::kBegin;
  int finished_ = 0;      // number of finished pushes
  double since_s_ = 0.0;  // start time of the stage
  double pushed_s_ = 0.0;
  double pushed_command_ = 0.0;  // when the push ended
  double sign_ = 1.0;            // of the push's command, relative to the level
  double way_ = 1.0;             // sign of the joint's motion under a positive command
  bool is_way_known_ = false;    // from a push that began at rest
  bool returns_ = false;         // the push returns a joint that drifts to an end of its range
  int return_count_ = 0;         // number of such pushes, at most as many as the others
  double direction_ = 0.0;       // sign of the joint's motion in the push
  double farthest_rad_ = 0.0;    // largest motion in this direction
  double farthest_s_ = 0.0;
  std::array<double, kJointsMax> start_rad_{};
};

}  // namespace daq
