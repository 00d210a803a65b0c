#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/calibration.hpp"

namespace estimator {

/// What recordings can tell of one free parameter.
struct ParameterExcitation {
  std::string name;
  std::string unit;
  double start = 0.0;
  double deviation = 0.0;  ///< that a calibration will have, by noise alone; infinite: cannot tell
};

struct Excitation {
  std::vector<ParameterExcitation> parameters;
  std::vector<NullDirection> null_directions;
};

/// Predicts deviations of a physical calibration from the information that the readings hold about
/// the parameters at their start values, linearised about the motion as it was read: short shooting
/// intervals from node to node, which next to no process noise ties together. Costs one
/// linearisation. Empty where there is no physical calibration, or no free parameter.
///
/// @throws std::invalid_argument as `calibrate`
Excitation predict_excitation(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                              const CalibrationOptions& options, int threads = 1);

}  // namespace estimator
