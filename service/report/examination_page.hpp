#pragma once

#include <string>
#include <vector>

#include "estimator/diagnostics/excitation.hpp"
#include "estimator/model/mechanism.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Returns the results available before a fit as one self-contained page: the findings, the
/// predicted identifiability, and the readings with findings marked and rejected samples as points.
/// @param mechanism   of the recorded rig
/// @param recordings  after repair; `context` has the rejected samples
std::string examination_page(const estimator::Mechanism& mechanism,
                             const std::vector<estimator::Recording>& recordings,
                             const std::vector<estimator::Finding>& findings,
                             const estimator::Excitation& excitation,
                             const CalibrationContext& context);

}  // namespace service
