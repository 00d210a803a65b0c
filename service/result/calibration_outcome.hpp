#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "service/text/number_format.hpp"

namespace service {

/// Whether the stop flag ended either stage.
bool was_stopped(const estimator::Calibration& calibration);

/// Returns how a stage ended, e.g. "cost tolerance after 7 iterations".
std::string describe_stage(estimator::Termination termination, int iterations);

/// Returns whether and how a calibration ended: "Converged", "Converged (the simulation fit; the
/// joint estimation before it ended by …)", "NOT CONVERGED", "NO RESULT (…)".
std::string describe_ending(const estimator::Calibration& calibration);

/// Returns why 95 % intervals are wider than ± 2 standard deviations; empty if none is.
std::string describe_intervals(const estimator::Calibration& calibration);

/// Returns warnings on joints whose motion the model does not reproduce (see is_unexplained).
std::vector<std::string> describe_misfit(const estimator::Calibration& calibration);

/// Returns the number format of an estimate, common to all tables, pages and files.
inline Notation notation_of(const estimator::ParameterEstimate& estimate) {
  return {estimate.value, estimate.standard_deviation};
}

}  // namespace service
