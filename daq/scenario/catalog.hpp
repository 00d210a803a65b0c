#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "daq/scenario/feedback.hpp"
#include "daq/scenario/observation.hpp"
#include "daq/scenario/open_loop.hpp"

namespace daq {

/// Excitation signal of one motor, of any supported kind. A new kind needs a type with the
/// functions compute_command, command_peak and validation_errors, and with phase if the operator or
/// the rig determines the time of its motion. After the type is added here, the compiler reports
/// the other places to extend.
using Excitation =
    std::variant<Release, SwingUp, Pulse, Step, Chirp, Multisine, Replay, PulseTrain, TestPush,
                 PositionFeedback>;

/// An excitation and the motor that it drives.
struct MotorExcitation {
  Excitation excitation;
  std::size_t motor = 0;  ///< in the order of the rig's motors
};

/// Excitation signals of a run, and the run's duration. `duration_s` counts from the start of the
/// run, or from the start of the motion if an operator triggers the motion.
class Scenario {
 public:
  /// @param excitations  at least one. A motor has at most one excitation and, in addition, at most
  ///                     one PositionFeedback, whose command is added. A Release cannot be combined
  ///                     with other excitations.
  Scenario(std::string name, std::vector<MotorExcitation> excitations, double duration_s);
  /// Creates a scenario with one excitation, of the first motor.
  Scenario(std::string name, Excitation excitation, double duration_s);

  /// Writes the command of each motor in reply to a sample to `commands` [unit of the control
  /// signal]. The command of a motor without excitation is zero, as are all commands after the end.
  /// Real-time safe.
  void compute_command(const ScenarioInput& now, std::span<double> commands) noexcept;

  /// Returns the command of the first motor.
  double compute_command(const ScenarioInput& now) noexcept {
    double first = 0.0;
    compute_command(now, {&first, 1});
    return first;
  }

  ScenarioPhase phase() const noexcept { return phase_; }  ///< of the excitation that ends last
  const std::string& name() const noexcept { return name_; }
  double duration_s() const noexcept { return duration_s_; }
  double command_peak() const;  ///< largest magnitude of any motor's command
  double command_peak(std::size_t motor) const;

  /// Returns the joint that an operator must hold; nullopt if there is none.
  std::optional<HeldJoint> held_joint() const;

  /// Returns the errors in the scenario's numbers as sentences that name the field; empty if there
  /// are none.
  std::vector<std::string> validation_errors() const;

  /// Returns whether the commands depend on time alone, so that they are known beforehand.
  bool is_open_loop() const noexcept;

 private:
  std::string name_;
  std::vector<MotorExcitation> excitations_;
  double duration_s_;
  ScenarioPhase phase_ = ScenarioPhase::kRunning;
  double running_since_s_ = -1.0;  // negative: not yet running
};

}  // namespace daq
