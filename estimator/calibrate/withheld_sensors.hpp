#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/assess/parameter_book.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// The recordings with the columns of withheld sensors moved to Segment::withheld.
/// @param recordings  with the columns of all sensors of the mechanism
/// @throws std::invalid_argument when columns are too many or too few
std::vector<Recording> set_withheld_aside(const Mechanism& mechanism,
                                          std::vector<Recording> recordings);

/// What withholding costs: how well what was not used is predicted, and how much narrower the
/// parameters would be known with it, its noise judged by its own differences.
///
/// @param fitted  at the estimates, on `input` and `grid`
std::vector<WithheldSensor> judge_withheld(const ShootingProblem& fitted,
                                           const ShootingInput& input, const ParameterBook& book,
                                           const ShootingGrid& grid);

/// The same in words, a sentence a sensor.
std::string describe(const WithheldSensor& sensor);

}  // namespace estimator
