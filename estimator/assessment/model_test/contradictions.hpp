#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/assessment/quantization.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// Finds values that the rig description fixes but the readings contradict. Tests joint positions,
/// motor gains and friction terms, including terms fixed at zero. A value is reported if its
/// estimate would differ by more than five of its standard deviations, and if freeing it would move
/// another estimate by more than one standard deviation. Uses the score test: the step of a fit,
/// linearised at the estimates, with one of the values free. Even an error that hardly shows in the
/// residuals may move estimates by many standard deviations.
/// @param fitted    the fitted problem at the estimates, on `input` and `grid`
/// @param counting  sensors with quantization errors only; if any, `fitted` has one shooting node
///                  per segment
/// @param variances variance of the weighted residuals of each noise group; 1 for quantized sensors
/// @return          contradicted values, the most significant first
std::vector<Contradiction> find_contradictions(const ShootingProblem& fitted,
                                               const ShootingInput& input, const ShootingGrid& grid,
                                               const std::vector<QuantizedSensor>& counting,
                                               const Eigen::VectorXd& variances);

/// Returns a note about the most significant contradiction, and about the contradictions that
/// explain the data equally well.
/// @param found  at least one contradiction
Message contradiction_note(const std::vector<Contradiction>& found);

}  // namespace estimator
