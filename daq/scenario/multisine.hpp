#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "daq/scenario/observation.hpp"

namespace daq {

/// One sine of a multisine.
struct Tone {
  double frequency_Hz = 0.0;
  double amplitude = 0.0;             // [unit of the control signal]
  std::optional<double> phase_rad{};  // empty: chosen by `choose_phases`
};

/// A sum of sines Σ aᵢ sin(2π fᵢ t + φᵢ) with amplitudes aᵢ, frequencies fᵢ and phases φᵢ, faded in
/// over ramp_s.
struct Multisine {
  std::vector<Tone> tones{};
  double ramp_s = 0.0;
  double duration_s = 0.0;  // time span over which the peak is evaluated

  double command(const ScenarioInput& now) const noexcept;

  /// Returns an upper bound of the largest command during duration_s, at most a few thousandths
  /// above the exact value.
  double command_peak() const;
  std::vector<std::string> faults() const;
};

/// Chooses the omitted phases of a multisine for a low crest factor (peak divided by root mean
/// square), which gives the most power at a given peak. Starts from Schroeder's phases φᵢ = −π
/// i(i−1)/n of n sines [Sch70]. Then lowers the p-norm of the signal by one phase at a time, with p
/// = 4, 8, 16, 32 [Gui91]. Given phases are kept.
///
/// [Sch70] M. Schroeder, Synthesis of low-peak-factor signals, IEEE Trans. Inf. Theory 16(1), 1970.
/// [Gui91] P. Guillaume et al., Crest-factor minimization using nonlinear Chebyshev approximation
/// methods, IEEE Trans. Instrum. Meas. 40(6), 1991.
void choose_phases(Multisine& multisine);

}  // namespace daq
