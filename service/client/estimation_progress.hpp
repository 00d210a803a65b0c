#pragma once

#include "estimator/fit/fit_options.hpp"
#include "service/client/interrupt.hpp"
#include "service/client/progress_line.hpp"

namespace service {

/// Shows every iteration on the progress line, stage by stage, and stops at Ctrl-C. Both arguments
/// must outlive the monitor.
/// @param threads 0: one per processor
/// @param prefix  printed before each line, e.g. "fold 2 of 5: "; read anew for each line
estimator::CalibrationMonitor make_monitor(const InterruptFlag& interrupt, ProgressLine& progress,
                                           int threads, const std::string* prefix = nullptr);

}  // namespace service
