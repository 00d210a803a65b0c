#pragma once

#include <string>
#include <vector>

#include "estimator/diagnostics/misfit/excitation.hpp"
#include "estimator/model/mechanism.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Returns the results of "rigcal check" as a self-contained HTML page. It shows the findings, the
/// predicted identifiability, and plots of the readings. The plots highlight findings and show
/// rejected samples as points.
/// @param mechanism   mechanism of the recorded rig
/// @param recordings  repaired recordings; `context` contains the rejected samples
std::string render_examination_page(const estimator::Mechanism& mechanism,
                                    const std::vector<estimator::Recording>& recordings,
                                    const std::vector<estimator::Finding>& findings,
                                    const estimator::PredictedPrecision& excitation,
                                    const CalibrationMetadata& context);

}  // namespace service
