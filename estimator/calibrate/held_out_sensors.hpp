#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/assessment/intervals/estimate_table.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// Moves the readings of held-out sensors out of the readings to fit, to Segment::held_out.
/// @param recordings  recordings with one column for each sensor of the mechanism
/// @throws std::invalid_argument if the number of columns is wrong
std::vector<Recording> split_held_out_sensors(const Mechanism& mechanism,
                                              std::vector<Recording> recordings);

/// Computes the prediction errors of held-out sensors, and how much more precise the parameters
/// would be if these sensors were fitted. Their noise is estimated from differences of readings.
/// @param fitted  the fitted problem at the estimates, on `input` and `grid`
std::vector<HeldOutSensor> assess_held_out_sensors(const ShootingProblem& fitted,
                                                   const ShootingInput& input,
                                                   const EstimateTable& book,
                                                   const ShootingGrid& grid);

/// Returns a note with the prediction error of a held-out sensor and the gain of fitting it.
Message describe_held_out_sensor(const HeldOutSensor& sensor);

}  // namespace estimator
