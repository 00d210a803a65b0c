#pragma once

#include <string>

#include "estimator/calibrate/calibration.hpp"
#include "service/convert/calibration_message.hpp"

namespace service {

/// The result of a calibration as one self-contained HTML page: parameters with their intervals,
/// measured and simulated angles with their difference for every hinge and segment, the cost over
/// the iterations, and the correlation of the parameters. No scripts, no external resources.
std::string calibration_page(const estimator::Calibration& calibration,
                             const CalibrationContext& context);

}  // namespace service
