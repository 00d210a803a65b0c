#pragma once

#include <limits>
#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A mechanism whose parameters are in seconds of a logger clock with the relative rate error ε. To
/// first order in ε, a quantity with the unit sⁿ is (1 + n ε) times its true value. Gravity and all
/// other fixed quantities depend on ε (`ParameterDependency`). Free quantities stay free and lose
/// their priors. ε is then an ordinary parameter. It is not identifiable if free parameters absorb
/// its effect. Delays of a few milliseconds are not converted.
struct ClockRateMechanism {
  Mechanism mechanism;
  int rate = -1;  ///< index of ε, the last parameter: free, initially zero
};
/// Returns the mechanism with the relative clock rate error ε as an additional free parameter.
ClockRateMechanism add_clock_rate_parameter(const Mechanism& mechanism);

/// Converts free parameters that were estimated in a clock's seconds to true seconds.
/// @param clocked    estimate with the structure of `add_clock_rate_parameter(mechanism)`
/// @param mechanism  receives the values
void convert_from_clock_seconds(const ClockRateMechanism& clocked, Mechanism& mechanism);

/// Returns recordings with time stamps corrected for the relative clock rate error `rate`.
std::vector<Recording> correct_clock_error(std::vector<Recording> recordings, double rate);

/// The predicted precision of one free parameter.
struct PredictedParameterPrecision {
  std::string name;
  std::string unit;
  double start = 0.0;
  /// Predicted standard deviation from noise; infinite if not identifiable.
  double deviation = 0.0;
};

/// The predicted precision of an estimate of the logger clock's rate.
struct PredictedClockPrecision {
  /// Predicted standard deviation of the relative clock rate error [-].
  double deviation = std::numeric_limits<double>::infinity();
  /// Names of the free parameters that absorb a clock error; empty if the clock rate is
  /// identifiable.
  std::vector<std::string> absorbed_by;
};

/// The predicted precision of all free parameters and of the clock rate.
struct PredictedPrecision {
  std::vector<PredictedParameterPrecision> parameters;
  std::vector<NullDirection> null_directions;
  PredictedClockPrecision clock;
};

/// Largest standard deviation of the clock rate at which clock errors are detectable [-].
inline constexpr double kDetectableClockDeviation = 3e-3;

/// Predicts the standard deviations of the parameters of a physical calibration and of the clock
/// rate, from the Fisher information of the readings at the initial values. Linearises about the
/// measured motion with short shooting intervals and almost no process noise between them. The cost
/// is two linearisations. The result is empty for shadow parameters, or without free parameters.
/// @throws std::invalid_argument as `calibrate`
PredictedPrecision predict_precision(const Mechanism& mechanism,
                                     const std::vector<Recording>& recordings,
                                     const CalibrationOptions& options, int threads = 1);

}  // namespace estimator
