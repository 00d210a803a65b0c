#pragma once

#include "estimator/fit/fit_options.hpp"
#include "service/client/interrupt.hpp"
#include "service/client/progress_line.hpp"

namespace service {

/// Shows every iteration on the progress line, stage by stage, and stops at Ctrl-C. Both arguments
/// must outlive the monitor.
/// @param threads to work with; 0: one for each processor
/// @param prefix  before every line, e.g. "fold 2 of 5: "; read at every line
estimator::CalibrationMonitor make_monitor(const InterruptFlag& interrupt, ProgressLine& progress,
                                           int threads, const std::string* prefix = nullptr);

}  // namespace service
