#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/calibration.hpp"

namespace service {

/// Whether a stop flag ended either stage.
bool was_stopped(const estimator::Calibration& calibration);

/// How a stage ended, e.g. "cost tolerance after 7 iterations".
std::string describe_stage(estimator::Termination termination, int iterations);

/// Warnings on hinges whose motion the model does not explain: an open-loop error of more than a
/// third of the motion itself. Such an error comes from a wrong unit, sign, zero mark or geometry
/// more often than from a wrong parameter. Empty when all is well, also where states and physical
/// parameters explain every reading of a motion that no simulation could predict.
std::vector<std::string> describe_misfit(const estimator::Calibration& calibration);

}  // namespace service
