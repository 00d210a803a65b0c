#pragma once

#include <string>

#include "service/calibration/bootstrap_run.hpp"

namespace service {

/// Formats the result of a bootstrap as text: whether it confirms the reported intervals, a table
/// of the intervals of each method, and notes.
std::string format_bootstrap(const BootstrapResult& result, double wall_time);

/// Returns the HTML report of a bootstrap, with a figure of the intervals.
std::string render_bootstrap_page(const BootstrapResult& result,
                                  const CalibrationMetadata& context);

/// Returns whether the bootstrap confirms the reported intervals.
bool are_intervals_confirmed(const BootstrapResult& result);

}  // namespace service
