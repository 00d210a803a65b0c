#pragma once

#include <string>
#include <variant>
#include <vector>

#include "daq/scenario/chirp.hpp"
#include "daq/scenario/multisine.hpp"
#include "daq/scenario/observation.hpp"
#include "daq/scenario/pulse.hpp"
#include "daq/scenario/pulse_train.hpp"
#include "daq/scenario/release.hpp"
#include "daq/scenario/replay.hpp"
#include "daq/scenario/step.hpp"
#include "daq/scenario/swing_up.hpp"

namespace daq {

/// To add a scenario: write its type (command, command_peak, faults, and phase if the operator or
/// the rig decides when it runs) and name it here. The compiler lists the rest.
using Excitation =
    std::variant<Release, SwingUp, Pulse, Step, Chirp, Multisine, Replay, PulseTrain>;

/// An excitation and how long it runs. `duration_s` counts from the start, or where an operator
/// starts the motion from that moment.
class Scenario {
 public:
  Scenario(std::string name, Excitation excitation, double duration_s)
      : name_(std::move(name)), excitation_(std::move(excitation)), duration_s_(duration_s) {}

  /// Command for this sample [unit of the control signal]. Real-time safe. Zero once finished.
  double command(const Moment& now) noexcept;

  Phase phase() const noexcept { return phase_; }
  const std::string& name() const noexcept { return name_; }
  double duration_s() const noexcept { return duration_s_; }
  double command_peak() const;

  /// What is wrong with its numbers, one sentence each naming the field; empty when nothing is.
  std::vector<std::string> faults() const;

  /// True when the commands are known beforehand: what is sent depends on time alone.
  bool is_open_loop() const noexcept;

 private:
  std::string name_;
  Excitation excitation_;
  double duration_s_;
  Phase phase_ = Phase::kRunning;
  double running_since_s_ = -1.0;  // negative: not yet
};

}  // namespace daq
