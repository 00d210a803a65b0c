#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// Finds instruments with significant cross-axis sensitivity that the description lacks, if it
/// moves an estimate by more than its standard deviation, or causes much of the instrument's
/// residuals (then `moved` is empty). Uses the score test: the cost reduction, linearised at the
/// estimates, with an instrument's cross-axis parameters free, against χ² of their number.
///
/// @param fitted  at the estimates, on `input` and `grid`
std::vector<CrossAxisSensitivity> find_cross_axes(const ShootingProblem& fitted,
                                                  const ShootingInput& input,
                                                  const ShootingGrid& grid);

/// Returns one sentence per instrument.
std::string describe(const CrossAxisSensitivity& found);

}  // namespace estimator
