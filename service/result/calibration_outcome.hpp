#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/calibration.hpp"

namespace service {

/// Whether a stop flag ended either stage.
bool was_stopped(const estimator::Calibration& calibration);

/// How a stage ended, e.g. "cost tolerance after 7 iterations".
std::string describe_stage(estimator::Termination termination, int iterations);

/// Warnings on hinges whose motion the model does not explain (estimator::is_unexplained). Empty
/// when all is well.
std::vector<std::string> describe_misfit(const estimator::Calibration& calibration);

}  // namespace service
