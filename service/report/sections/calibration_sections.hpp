#pragma once

#include <string>

#include "estimator/assessment/calibration.hpp"

namespace service {

/// Returns an HTML section on the estimated parameters, with values and plots of 95 % confidence
/// intervals, priors, bounds and initial values.
std::string render_parameter_section(const estimator::Calibration& calibration);

/// Returns an HTML section on the identifiability of the parameters. It shows unidentifiable
/// combinations of parameters, poorly identified parameters, and the correlation matrix. It also
/// shows how much the uncertainty of other parameters increases each standard deviation.
std::string render_identifiability_section(const estimator::Calibration& calibration);

/// Returns an HTML section that compares the estimates from separate pieces of the data. It shows
/// their consistency, a forest plot, and the standard deviations from sensor noise and from the
/// scatter between pieces. Empty if there is nothing to compare.
std::string render_piece_comparison(const estimator::Calibration& calibration);

}  // namespace service
