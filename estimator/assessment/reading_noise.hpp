#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assessment/quantization.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"

namespace estimator {

/// Returns the current reading errors of a problem, by sensor and segment; NaN if missing.
std::vector<std::vector<Eigen::VectorXd>> reading_errors(const ShootingProblem& problem,
                                                         const std::vector<Segment>& segments);

/// Returns the sensors whose errors quantization explains.
/// @param errors  from `reading_errors`; emptied for the returned sensors
std::vector<QuantizedSensor> find_quantized_sensors(
    const ShootingProblem& problem, const std::vector<Segment>& segments,
    std::vector<std::vector<Eigen::VectorXd>>& errors);

}  // namespace estimator
