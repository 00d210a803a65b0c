#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/assess/quantisation.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// Values that the description keeps, positions of hinges, gains, and sizes of friction, there or
/// not, which the readings contradict by more than five standard deviations, where that moves an
/// estimate by more than one of its own. By the score test: what a fit would do, linearised at the
/// estimates, if one of them were free too. An error that residuals hardly show may move estimates
/// by many deviations, and in all pieces alike.
///
/// @param fitted    at the estimates, on `input` and `grid`
/// @param counting  sensors whose errors are those of counting; `fitted` has one node a segment
/// then
/// @param variances of the weighted residuals of each noise group; 1 for sensors that count
/// @return          the gravest first
std::vector<Contradiction> find_contradictions(const ShootingProblem& fitted,
                                               const ShootingInput& input, const ShootingGrid& grid,
                                               const std::vector<CountingSensor>& counting,
                                               const Eigen::VectorXd& variances);

/// The gravest in words, with those that explain as much.
/// @param found  at least one
std::string describe(const std::vector<Contradiction>& found);

}  // namespace estimator
