#pragma once

#include <string>
#include <vector>

#include "estimator/diagnostics/misfit/excitation.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Returns findings about the recordings and the predicted precision of the parameters as JSON
/// (rigcal.v1.ExaminationResult).
std::string examination_json(const std::vector<estimator::Finding>& findings,
                             const estimator::Excitation& excitation,
                             const CalibrationContext& context);

}  // namespace service
