#pragma once

#include "estimator/fit/fit_options.hpp"
#include "service/client/interrupt.hpp"
#include "service/client/progress_line.hpp"

namespace service {

/// Returns a monitor that shows each iteration of a calibration on the progress line and stops the
/// calibration at Ctrl-C. `interrupt` and `progress` must outlive the monitor.
/// @param threads number of threads; 0: one per processor
/// @param prefix  text printed before each line, e.g. "fold 2 of 5: "; read again for each line
estimator::CalibrationMonitor make_monitor(const InterruptFlag& interrupt, ProgressLine& progress,
                                           int threads, const std::string* prefix = nullptr);

}  // namespace service
