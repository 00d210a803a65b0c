#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <numbers>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace daq {

/// Largest number of joints with an encoder: the channels of one conversion unit.
inline constexpr std::size_t kJointsMax = 16;

/// Largest number of motors of one conversion unit.
inline constexpr std::size_t kMotorsMax = 8;

/// Commands of all motors, in the unit's order, each in the motor's control unit; 0 for unused
/// entries.
using MotorCommands = std::array<double, kMotorsMax>;

/// Returns the indices 0 to count − 1, for loops that cannot pass the end.
inline auto indices(std::size_t count) noexcept {
  return std::views::iota(std::size_t{0}, count);
}

/// Measured state of one joint. The angle is unwrapped and has the rig file's sign and offset.
struct JointState {
  double angle_rad = 0.0;
  double speed_rad_per_s = 0.0;
  bool valid = false;  ///< false: the channel was missing; angle and speed are the last known ones
};

/// One sample as input of the control loop and the safety checks.
struct Observation {
  double time_s = 0.0;  ///< device time since the run started
  std::array<JointState, kJointsMax> joint{};
};

/// One sample as input of a scenario, from a rig or from a simulation with any number of joints.
/// The joint states given to the constructor must outlive this object.
struct ScenarioInput {
  double time_s = 0.0;  ///< since the run started
  std::span<const JointState> joint;

  ScenarioInput(double time, std::span<const JointState> joints) : time_s(time), joint(joints) {}
  ScenarioInput(const Observation& sample) : time_s(sample.time_s), joint(sample.joint) {}
};

/// Returns the difference of two angles on the circle [rad].
inline double wrapped_difference(double angle_rad, double other_rad) noexcept {
  return std::remainder(angle_rad - other_rad, 2.0 * std::numbers::pi);
}

/// Returns the sentences whose condition is false, from pairs of a condition and a sentence.
inline std::vector<std::string> unmet(
    std::initializer_list<std::pair<bool, const char*>> conditions) {
  std::vector<std::string> sentences;
  for (const auto& [holds, sentence] : conditions) {
    if (!holds) sentences.emplace_back(sentence);
  }
  return sentences;
}

/// Progress of a scenario. The supervisor reports it to the operator.
enum class ScenarioPhase {
  kWaitingForHold,     ///< the operator must bring the joint to the given angle
  kWaitingForRelease,  ///< the operator must let go
  kRunning,
  kFinished,
};

}  // namespace daq
