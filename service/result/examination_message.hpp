#pragma once

#include <string>
#include <vector>

#include "estimator/doctor/excitation.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// What is known before any fit, as JSON: the proto3 mapping of rigcal.v1.ExaminationResult.
std::string examination_json(const std::vector<estimator::Finding>& findings,
                             const estimator::Excitation& excitation,
                             const CalibrationContext& context);

}  // namespace service
