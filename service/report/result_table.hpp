#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"

namespace service {

/// Formats a table of text with aligned columns, two spaces apart. The first row is the heading;
/// columns with `right` are right-aligned. Cells may contain untrusted text (proto::printable).
std::string format_table(std::vector<std::vector<std::string>> rows,
                         const std::vector<bool>& right);

/// Formats the result of a calibration for people: the verdict; parameters with standard
/// deviations, units and initial values; active bounds; well-identified combinations; the open-loop
/// error of each joint [mrad]; unidentifiable directions; notes; and the solver's termination.
std::string format_calibration(const estimator::Calibration& calibration, double wall_time);

}  // namespace service
