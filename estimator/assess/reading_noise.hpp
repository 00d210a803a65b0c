#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assess/quantization.hpp"
#include "estimator/fit/physical/shooting_problem.hpp"

namespace estimator {

/// Returns the reading errors of a problem as it is, by sensor and segment; NaN: missing.
std::vector<std::vector<Eigen::VectorXd>> reading_errors(const ShootingProblem& problem,
                                                         const std::vector<Segment>& segments);

/// Returns the sensors whose errors are explained by quantization.
/// @param errors  as above; emptied for these sensors
std::vector<QuantizedSensor> find_quantized_sensors(
    const ShootingProblem& problem, const std::vector<Segment>& segments,
    std::vector<std::vector<Eigen::VectorXd>>& errors);

}  // namespace estimator
