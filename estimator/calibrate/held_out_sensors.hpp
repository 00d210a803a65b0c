#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/assess/estimate_table.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// Returns the recordings with the columns of held-out sensors moved to Segment::held_out.
/// @param recordings  with the columns of all sensors of the mechanism
/// @throws std::invalid_argument if the number of columns is wrong
std::vector<Recording> split_held_out_sensors(const Mechanism& mechanism,
                                              std::vector<Recording> recordings);

/// Evaluates held-out sensors: their prediction errors, and how much more precise the parameters
/// would be with them. Their noise is estimated from differences of readings.
///
/// @param fitted  at the estimates, on `input` and `grid`
std::vector<HeldOutSensor> assess_held_out(const ShootingProblem& fitted,
                                           const ShootingInput& input, const EstimateTable& book,
                                           const ShootingGrid& grid);

/// Returns one sentence per sensor.
std::string describe(const HeldOutSensor& sensor);

}  // namespace estimator
