#pragma once

#include <cstddef>
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

  double command(const ScenarioInput& now) const noexcept;
  double command_peak() const noexcept;
  std::vector<std::string> faults() const;

 private:
  SwingUpSettings settings_;
};

}  // namespace daq
