#pragma once

#include <string>

#include "estimator/assessment/calibration.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Returns an HTML section on the estimated parameters, with values and plots of 95 % confidence
/// intervals, priors, bounds and initial values.
std::string render_parameter_section(const estimator::Calibration& calibration);

/// Returns an HTML section with the drawing of the rig at rest and the meanings of the parameters'
/// names. The drawing is the drawing of `rigcal info --picture`, with the values of the rig file.
/// It is missing if the result does not contain the rig file.
std::string render_rig_section(const estimator::Calibration& calibration,
                               const CalibrationMetadata& context);

/// Returns an HTML section on the identifiability of the parameters. It shows unidentifiable
/// combinations of parameters, poorly identified parameters, and the correlation matrix. It also
/// shows how much each standard deviation increases because other parameters are uncertain.
std::string render_identifiability_section(const estimator::Calibration& calibration);

/// Returns an HTML section that compares the estimates from separate parts of the data. It shows
/// their consistency, a forest plot, and the standard deviations from sensor noise and from the
/// scatter between parts. Empty if there is nothing to compare.
std::string render_part_comparison(const estimator::Calibration& calibration);

}  // namespace service
