#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "daq/scenario/observation.hpp"

namespace daq {

/// A step of the command that lasts until the end of the run.
struct Step {
  double amplitude = 0.0;  // [unit of the control signal]
  double start_s = 0.0;

  double command(const ScenarioInput& now) const noexcept {
    return now.time_s >= start_s ? amplitude : 0.0;
  }
  double command_peak() const noexcept { return std::abs(amplitude); }
  std::vector<std::string> faults() const {
    std::vector<std::string> found;
    if (!(start_s >= 0.0)) found.push_back("step.start_s must not be negative");
    return found;
  }
};

}  // namespace daq
