#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// Instruments whose axes evidently read across one another, of which the description says
/// nothing, where that moves an estimate by more than its standard deviation, or is much of what
/// the instrument's readings are off by (`moved` is empty then). By the score test:
/// what the residuals would lose, linearised at the estimates, if an instrument's cross-axis shares
/// were free too, against χ² of their number.
///
/// @param fitted  at the estimates, on `input` and `grid`
std::vector<CrossAxes> find_cross_axes(const ShootingProblem& fitted, const ShootingInput& input,
                                       const ShootingGrid& grid);

/// The same in words, a sentence an instrument.
std::string describe(const CrossAxes& found);

}  // namespace estimator
