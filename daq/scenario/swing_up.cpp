#include "daq/scenario/swing_up.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace daq {

double SwingUp::command(const ScenarioInput& now) const noexcept {
  const JointState& pendulum = now.joint[settings_.pendulum];
  if (!pendulum.valid) return 0.0;
  if (now.time_s < settings_.kick_time_s) return settings_.kick_command;

  const double theta = pendulum.angle_rad;
  const double w = pendulum.speed_rad_per_s;
  const double from_upright = wrapped_difference(theta, std::numbers::pi);
  if (std::abs(from_upright) < settings_.stop_angle_rad) return 0.0;

  const double w_0 = 2.0 * std::numbers::pi * settings_.natural_frequency_Hz;
  const double E = 0.5 * (w / w_0) * (w / w_0) - std::cos(theta);
  const double direction = w * std::cos(theta);
  const double sign = direction > 0.0 ? 1.0 : (direction < 0.0 ? -1.0 : 0.0);
  return std::clamp(settings_.energy_gain * (1.0 - E) * sign, -settings_.command_max,
                    settings_.command_max);
}

double SwingUp::command_peak() const noexcept {
  return std::max(settings_.command_max, std::abs(settings_.kick_command));
}

std::vector<std::string> SwingUp::faults() const {
  std::vector<std::string> found;
  if (settings_.energy_gain == 0.0) found.push_back("swing_up.energy_gain must not be zero");
  if (!(settings_.command_max > 0.0)) found.push_back("swing_up.command_max must be positive");
  if (!(settings_.natural_frequency_Hz > 0.0)) {
    found.push_back("swing_up.natural_frequency_hz must be positive");
  }
  if (!(settings_.stop_angle_rad >= 0.0)) {
    found.push_back("swing_up.stop_angle_rad must not be negative");
  }
  if (!(settings_.kick_time_s >= 0.0)) found.push_back("swing_up.kick_time_s must not be negative");
  return found;
}

}  // namespace daq
