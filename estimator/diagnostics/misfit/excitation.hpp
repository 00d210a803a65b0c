#pragma once

#include <limits>
#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// The predicted precision of one free parameter.
struct ParameterExcitation {
  std::string name;
  std::string unit;
  double start = 0.0;
  /// Predicted standard deviation from noise; infinite if not identifiable.
  double deviation = 0.0;
};

/// The predicted precision of an estimate of the logger clock's rate.
struct ClockExcitation {
  /// Standard deviation of the clock rate [-].
  double deviation = std::numeric_limits<double>::infinity();
  /// Names of free parameters that absorb a clock error; empty if the rate is identifiable.
  std::vector<std::string> absorbed_by;
};

struct Excitation {
  std::vector<ParameterExcitation> parameters;
  std::vector<NullDirection> null_directions;
  ClockExcitation clock;
};

/// Standard deviation of the clock rate above which a clock error goes undetected [-].
inline constexpr double kDetectableClockDeviation = 3e-3;

/// Predicts the standard deviations of the parameters of a physical calibration, and of the clock's
/// rate, from the Fisher information of the readings at the initial values. Linearises about the
/// measured motion with short shooting intervals and almost no process noise between them. Costs
/// two linearisations. Returns an empty result without physical calibration or without free
/// parameters.
/// @throws std::invalid_argument as `calibrate`
Excitation predict_excitation(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                              const CalibrationOptions& options, int threads = 1);

}  // namespace estimator
