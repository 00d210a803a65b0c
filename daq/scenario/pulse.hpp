#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "daq/scenario/observation.hpp"

namespace daq {

/// A rectangular pulse over [start, start + width).
struct Pulse {
  double amplitude = 0.0;  // [unit of the control signal]
  double start_s = 0.0;
  double width_s = 0.0;

  double command(const ScenarioInput& now) const noexcept {
    return now.time_s >= start_s && now.time_s < start_s + width_s ? amplitude : 0.0;
  }
  double command_peak() const noexcept { return std::abs(amplitude); }
  std::vector<std::string> faults() const {
    std::vector<std::string> found;
    if (!(start_s >= 0.0)) found.push_back("pulse.start_s must not be negative");
    if (!(width_s > 0.0)) found.push_back("pulse.width_s must be positive");
    return found;
  }
};

}  // namespace daq
