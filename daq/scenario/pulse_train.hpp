#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "daq/scenario/observation.hpp"
#include "daq/scenario/pulse.hpp"

namespace daq {

/// A train of rectangular pulses; overlapping pulses are added.
struct PulseTrain {
  std::vector<Pulse> pulses{};

  double command(const ScenarioInput& now) const noexcept {
    double sum = 0.0;
    for (const Pulse& pulse : pulses) sum += pulse.command(now);
    return sum;
  }

  /// Returns the largest magnitude of the command, which changes at the starts and ends of pulses
  /// only.
  double command_peak() const noexcept {
    double peak = 0.0;
    for (const Pulse& pulse : pulses) {
      for (const double edge_s : {pulse.start_s, pulse.start_s + pulse.width_s}) {
        peak = std::max(peak, std::abs(command({edge_s, {}})));
      }
    }
    return peak;
  }

  std::vector<std::string> faults() const {
    std::vector<std::string> found;
    if (pulses.empty()) found.push_back("pulse_train.pulse: give at least one");
    for (std::size_t i = 0; i < pulses.size(); ++i) {
      const std::string place = "pulse_train.pulse[" + std::to_string(i) + "].";
      if (!(pulses[i].start_s >= 0.0)) found.push_back(place + "start_s must not be negative");
      if (!(pulses[i].width_s > 0.0)) found.push_back(place + "width_s must be positive");
    }
    return found;
  }
};

}  // namespace daq
