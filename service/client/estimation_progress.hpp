#pragma once

#include "estimator/calibrate/calibration.hpp"
#include "service/client/interrupt.hpp"
#include "service/client/progress_line.hpp"

namespace service {

/// Shows every iteration on the progress line, stage by stage, and stops at Ctrl-C. Both arguments
/// must outlive the monitor.
/// @param prefix before every line, e.g. "fold 2 of 5: "; read at every line
estimator::CalibrationMonitor make_monitor(const InterruptFlag& interrupt, ProgressLine& progress,
                                           const std::string* prefix = nullptr);

}  // namespace service
