#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "daq/scenario/observation.hpp"

namespace daq {

/// A step of the command that lasts until the end of the run.
struct Step {
  double amplitude = 0.0;  // [unit of the control signal]
  double start_s = 0.0;

  double compute_command(const ScenarioInput& now) const noexcept {
    return now.time_s >= start_s ? amplitude : 0.0;
  }
  double command_peak() const noexcept { return std::abs(amplitude); }
  std::vector<std::string> validation_errors() const {
    return unmet({{start_s >= 0.0, "step.start_s must not be negative"}});
  }
};

/// A rectangular pulse over [start, start + width).
struct Pulse {
  double amplitude = 0.0;  // [unit of the control signal]
  double start_s = 0.0;
  double width_s = 0.0;

  double compute_command(const ScenarioInput& now) const noexcept {
    return now.time_s >= start_s && now.time_s < start_s + width_s ? amplitude : 0.0;
  }
  double command_peak() const noexcept { return std::abs(amplitude); }
  std::vector<std::string> validation_errors() const {
    return unmet({{start_s >= 0.0, "pulse.start_s must not be negative"},
                  {width_s > 0.0, "pulse.width_s must be positive"}});
  }
};

/// A train of rectangular pulses; overlapping pulses are added.
struct PulseTrain {
  std::vector<Pulse> pulses{};

  double compute_command(const ScenarioInput& now) const noexcept {
    double sum = 0.0;
    for (const Pulse& pulse : pulses) sum += pulse.compute_command(now);
    return sum;
  }

  /// Returns the largest magnitude of the command, which changes at the starts and ends of pulses
  /// only.
  double command_peak() const noexcept {
    double peak = 0.0;
    for (const Pulse& pulse : pulses) {
      for (const double edge_s : {pulse.start_s, pulse.start_s + pulse.width_s}) {
        peak = std::max(peak, std::abs(compute_command({edge_s, {}})));
      }
    }
    return peak;
  }

  std::vector<std::string> validation_errors() const {
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

/// A sine of constant amplitude whose frequency changes linearly from f₀ = frequency_start_Hz at
/// start_s to f₁ = frequency_end_Hz at end_s:
///   amplitude · sin(2π (f₀ s + (f₁ − f₀) s² / (2 T))),  s = t − start,  T = end − start.
struct Chirp {
  double amplitude = 0.0;  // [unit of the control signal]
  double frequency_start_Hz = 0.0;
  double frequency_end_Hz = 0.0;
  double start_s = 0.0;
  double end_s = 0.0;

  double compute_command(const ScenarioInput& now) const noexcept {
    const double s = now.time_s - start_s;
    const double T = end_s - start_s;
    if (s < 0.0 || s > T) return 0.0;
    const double turns =
        frequency_start_Hz * s + 0.5 * (frequency_end_Hz - frequency_start_Hz) * s * s / T;
    return amplitude * std::sin(2.0 * std::numbers::pi * turns);
  }
  double command_peak() const noexcept { return std::abs(amplitude); }
  std::vector<std::string> validation_errors() const {
    return unmet({{start_s >= 0.0, "chirp.start_s must not be negative"},
                  {end_s > start_s, "chirp.start_s must lie before duration_s"},
                  {frequency_start_Hz >= 0.0, "chirp.frequency_start_hz must not be negative"},
                  {frequency_end_Hz >= 0.0, "chirp.frequency_end_hz must not be negative"}});
  }
};

/// One sine of a multisine.
struct Tone {
  double frequency_Hz = 0.0;
  double amplitude = 0.0;             // [unit of the control signal]
  std::optional<double> phase_rad{};  // empty: chosen by `choose_multisine_phases`
};

/// A sum of sines Σ aᵢ sin(2π fᵢ t + φᵢ) with amplitudes aᵢ, frequencies fᵢ and phases φᵢ, faded in
/// over ramp_s.
struct Multisine {
  std::vector<Tone> tones{};
  double ramp_s = 0.0;
  double duration_s = 0.0;  // time span over which the peak is evaluated

  double compute_command(const ScenarioInput& now) const noexcept;

  /// Returns an upper bound on the largest command during duration_s. The bound exceeds the exact
  /// value by at most a few thousandths.
  double command_peak() const;
  std::vector<std::string> validation_errors() const;
};

/// Chooses the omitted phases of a multisine for a low crest factor (peak divided by root mean
/// square), which gives the most power at a given peak. Starts from Schroeder's phases φᵢ = −π
/// i(i−1)/n of n sines [Sch70]. Then lowers the p-norm of the signal by one phase at a time, with p
/// = 4, 8, 16, 32 [Gui91]. Given phases are kept.
///
/// [Sch70] M. Schroeder, Synthesis of low-peak-factor signals, IEEE Trans. Inf. Theory 16(1), 1970.
/// [Gui91] P. Guillaume et al., Crest-factor minimization using nonlinear Chebyshev approximation
/// methods, IEEE Trans. Instrum. Meas. 40(6), 1991.
void choose_multisine_phases(Multisine& multisine);

/// Replay of a recorded command. The command of each row lasts until the time of the next row. The
/// command is zero before the first row and from the time of the last row on.
class Replay {
 public:
  /// Creates a replay. `time_s` and `values` have one entry per row; time zero is the first row's
  /// time.
  Replay(std::vector<double> time_s, std::vector<double> values);

  double compute_command(const ScenarioInput& now) noexcept;
  double command_peak() const noexcept;
  std::vector<std::string> validation_errors() const;

 private:
  std::vector<double> time_s_;
  std::vector<double> values_;
  std::size_t row_ = 0;  // current row; time does not decrease during a run
};

}  // namespace daq
