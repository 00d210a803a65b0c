#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assess/quantisation.hpp"
#include "estimator/fit/physical/shooting_problem.hpp"

namespace estimator {

/// Errors of the readings where a problem stands, by sensor and segment; NaN where not observed.
std::vector<std::vector<Eigen::VectorXd>> reading_errors(const ShootingProblem& problem,
                                                         const std::vector<Segment>& segments);

/// Sensors whose errors counting explains.
/// @param errors  as above; emptied for these
std::vector<CountingSensor> take_counting_sensors(
    const ShootingProblem& problem, const std::vector<Segment>& segments,
    std::vector<std::vector<Eigen::VectorXd>>& errors);

}  // namespace estimator
