#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "daq/scenario/observation.hpp"

namespace daq {

/// Settings of a test of an unknown motor. The test applies a command until a joint has moved a
/// little, then the opposite command until that joint stops, for at most as long as the first
/// command.
struct TestPushSettings {
  std::size_t joint = 0;  // joint of the motor
  std::size_t joint_count = 1;
  double level = 0.0;             // command, reached after rise_s [unit of the control signal]
  double rise_s = 0.0;            // 0: immediately
  double push_s_max = 0.0;        // longest time of the command, with or without motion
  double motion_rad = 0.0;        // motion of the joint that ends the push
  double other_motion_rad = 0.0;  // motion of any other joint that ends the push
  double rest_s = 0.1;            // time without a command at the end
};

class TestPush {
 public:
  explicit TestPush(const TestPushSettings& settings) : settings_(settings) {}

  double command(const ScenarioInput& now) noexcept;
  double command_peak() const noexcept;
  Phase phase() const noexcept {
    return stage_ == Stage::kOver ? Phase::kFinished : Phase::kRunning;
  }
  std::vector<std::string> faults() const;

 private:
  enum class Stage { kBegin, kPush, kBrake, kRest, kOver };

  bool has_moved(const ScenarioInput& now) const noexcept;
  bool has_stopped(const ScenarioInput& now) noexcept;
  void enter(Stage stage, double time_s) noexcept;

  TestPushSettings settings_;
  Stage stage_ = Stage::kBegin;
  double since_s_ = 0.0;  // start time of the stage
  double pushed_s_ = 0.0;
  double pushed_command_ = 0.0;  // when the push ended
  double direction_ = 0.0;       // sign of the joint's motion in the push
  double farthest_rad_ = 0.0;    // largest motion in this direction
  double farthest_s_ = 0.0;
  std::array<double, kJointsMax> start_rad_{};
};

}  // namespace daq
