#pragma once

#include <string>

#include "estimator/assessment/calibration.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Returns the result of a calibration as one self-contained HTML page. It shows the parameters
/// with confidence intervals, priors and bounds, and unidentifiable combinations of parameters. For
/// each joint and segment it shows measured and simulated angles and their difference. It also
/// shows the cost per iteration, the data quality and the options.
/// @param validation  cross-validation of the same recordings; may be null
std::string render_calibration_page(const estimator::Calibration& calibration,
                                    const CalibrationMetadata& context,
                                    const estimator::CrossValidation* validation = nullptr);

}  // namespace service
