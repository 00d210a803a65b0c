#pragma once

#include <string>

#include "estimator/assess/calibration.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// The result of a calibration as one self-contained HTML page: parameters with their intervals
/// against prior and bounds, what the data do not tell, measured and simulated angles with their
/// difference for every hinge and segment, the cost over the iterations, the quality of the data,
/// and the options. No scripts, no external resources.
/// @param validation  across the same recordings; null: none
std::string calibration_page(const estimator::Calibration& calibration,
                             const CalibrationContext& context,
                             const estimator::CrossValidation* validation = nullptr);

}  // namespace service
