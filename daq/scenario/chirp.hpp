#pragma once

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "daq/scenario/observation.hpp"

namespace daq {

/// A sine of constant amplitude whose frequency changes linearly from f₀ = frequency_start_Hz at
/// start_s to f₁ = frequency_end_Hz at end_s:
///   amplitude · sin(2π (f₀ s + (f₁ − f₀) s² / (2 T))),  s = t − start,  T = end − start.
struct Chirp {
  double amplitude = 0.0;  // [unit of the control signal]
  double frequency_start_Hz = 0.0;
  double frequency_end_Hz = 0.0;
  double start_s = 0.0;
  double end_s = 0.0;

  double command(const ScenarioInput& now) const noexcept {
    const double s = now.time_s - start_s;
    const double T = end_s - start_s;
    if (s < 0.0 || s > T) return 0.0;
    const double turns =
        frequency_start_Hz * s + 0.5 * (frequency_end_Hz - frequency_start_Hz) * s * s / T;
    return amplitude * std::sin(2.0 * std::numbers::pi * turns);
  }
  double command_peak() const noexcept { return std::abs(amplitude); }
  std::vector<std::string> faults() const {
    std::vector<std::string> found;
    if (!(start_s >= 0.0)) found.push_back("chirp.start_s must not be negative");
    if (!(end_s > start_s)) found.push_back("chirp.start_s must lie before duration_s");
    if (!(frequency_start_Hz >= 0.0)) {
      found.push_back("chirp.frequency_start_hz must not be negative");
    }
    if (!(frequency_end_Hz >= 0.0)) found.push_back("chirp.frequency_end_hz must not be negative");
    return found;
  }
};

}  // namespace daq
