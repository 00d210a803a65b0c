#pragma once

#include <limits>
#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// What recordings can tell of one free parameter.
struct ParameterExcitation {
  std::string name;
  std::string unit;
  double start = 0.0;
  double deviation = 0.0;  ///< that a calibration will have, by noise alone; infinite: cannot tell
};

/// What recordings can tell of the clock that stamped them.
struct ClockExcitation {
  double deviation = std::numeric_limits<double>::infinity();  ///< of its rate, as above [-]
  /// Free parameters that take an error of it up, so that nothing shows; none where it can be told.
  std::vector<std::string> absorbed_by;
};

struct Excitation {
  std::vector<ParameterExcitation> parameters;
  std::vector<NullDirection> null_directions;
  ClockExcitation clock;
};

/// A clock whose rate is told no better than this goes unnoticed, however fast or slow [-].
inline constexpr double kClockTold = 3e-3;

/// Predicts deviations of a physical calibration from the information that the readings hold about
/// the parameters, and beside them about the clock's rate, at their start values, linearised about
/// the motion as it was read: short shooting intervals from node to node, which next to no process
/// noise ties together. Costs two linearisations. Empty where there is no physical calibration, or
/// no free parameter.
///
/// @throws std::invalid_argument as `calibrate`
Excitation predict_excitation(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                              const CalibrationOptions& options, int threads = 1);

}  // namespace estimator
