#pragma once

#include "estimator/fit/fit_options.hpp"
#include "service/cli/interrupt.hpp"
#include "service/cli/progress_line.hpp"

namespace service {

/// Returns a monitor that shows stage, iteration, cost and elapsed time of a calibration as
/// progress and stops the calibration at Ctrl-C. If the progress is verbose, it also logs each
/// iteration. `interrupt` and `progress` must outlive the monitor.
/// @param threads number of threads; 0: one per processor
/// @param part    part of the work, e.g. "fold 2 of 5", read again for each line; null: the stages
///                of the calibration are numbered
estimator::CalibrationMonitor make_monitor(const InterruptFlag& interrupt, ProgressLine& progress,
                                           int threads, const std::string* part = nullptr);

}  // namespace service
