#pragma once

#include <string>
#include <vector>

#include "estimator/doctor/excitation.hpp"
#include "estimator/model/mechanism.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// What is known before any fit, as one self-contained page: findings, what the recordings can
/// tell, and the readings with the findings marked and what is held back as points.
/// @param mechanism   that the recordings are of
/// @param recordings  after repair; what was held back of them stands in the context
std::string examination_page(const estimator::Mechanism& mechanism,
                             const std::vector<estimator::Recording>& recordings,
                             const std::vector<estimator::Finding>& findings,
                             const estimator::Excitation& excitation,
                             const CalibrationContext& context);

}  // namespace service
