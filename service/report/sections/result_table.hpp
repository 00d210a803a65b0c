#pragma once

#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"

namespace service {

/// Formats a text table with aligned columns, two spaces apart. The first row is the heading.
/// Columns are right-aligned for which `right` is true. Cells may contain untrusted text, whose
/// control characters are made harmless (proto::printable).
std::string format_table(std::vector<std::vector<std::string>> rows,
                         const std::vector<bool>& right);

/// Formats the result of a calibration as text. It gives the verdict, the parameters with standard
/// deviations, units and initial values, active bounds, and well-identified combinations. It also
/// gives the open-loop error of each joint [mrad], unidentifiable directions, notes, and how the
/// solver terminated.
/// @param wall_time  duration of the calibration [s]
std::string format_calibration(const estimator::Calibration& calibration, double wall_time);

}  // namespace service
