#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "service/text/number_format.hpp"

namespace service {

/// Whether a stop flag ended either stage.
bool was_stopped(const estimator::Calibration& calibration);

/// How a stage ended, e.g. "cost tolerance after 7 iterations".
std::string describe_stage(estimator::Termination termination, int iterations);

/// Whether and how a calibration ended: "Converged", "Converged (the simulation fit; the joint
/// estimation reached its limit of iterations)", "NOT CONVERGED", "NO RESULT (…)".
std::string describe_ending(const estimator::Calibration& calibration);

/// Why 95 % intervals are wider than ± 2 standard deviations; empty where none is.
std::string describe_intervals(const estimator::Calibration& calibration);

/// Warnings on hinges whose motion the model does not explain (estimator::is_unexplained). Empty
/// when all is well.
std::vector<std::string> describe_misfit(const estimator::Calibration& calibration);

/// How an estimate is written in every table, page and file.
inline Notation notation_of(const estimator::ParameterEstimate& estimate) {
  return {estimate.value, estimate.standard_deviation};
}

}  // namespace service
