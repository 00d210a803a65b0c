#pragma once

#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "service/text/number_format.hpp"

namespace service {

/// Checks whether the user stopped the joint estimation or the simulation fit of a calibration.
bool was_stopped(const estimator::Calibration& calibration);

/// Describes how a stage of a calibration ended, e.g. "cost tolerance after 7 iterations".
std::string describe_stage(estimator::Termination termination, int iterations);

/// Describes how a calibration ended. Examples are "Converged", "Converged (the simulation fit; the
/// joint estimation before it ended by …)", "NOT CONVERGED" and "NO RESULT (…)".
std::string describe_ending(const estimator::Calibration& calibration);

/// Explains why some 95 % confidence intervals are wider than ± 2 standard deviations; empty if
/// none is wider.
std::string describe_intervals(const estimator::Calibration& calibration);

/// Returns warnings on joints whose measured motion the model does not reproduce (is_unexplained).
std::vector<estimator::Message> describe_misfit(const estimator::Calibration& calibration);

/// Returns the number format of an estimate, which all tables, pages and files use.
inline Notation notation_of(const estimator::ParameterEstimate& estimate) {
  return {estimate.value, estimate.standard_deviation};
}

}  // namespace service
