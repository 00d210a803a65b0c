#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// Finds instruments with a significant cross-axis sensitivity that the description lacks. An
/// instrument is reported if its cross-axis sensitivity moves an estimate by more than the standard
/// deviation, or causes much of the instrument's residuals (then `moved` is empty). Uses the score
/// test: the predicted cost reduction if the cross-axis parameters of the instrument are freed,
/// linearised at the estimates, is compared with the χ² distribution.
/// @param fitted  the fitted problem at the estimates, on `input` and `grid`
std::vector<CrossAxisSensitivity> find_cross_axes(const ShootingProblem& fitted,
                                                  const ShootingInput& input,
                                                  const ShootingGrid& grid);

/// Returns a note about the cross-axis sensitivity of one instrument.
Message cross_axis_note(const CrossAxisSensitivity& found);

}  // namespace estimator
