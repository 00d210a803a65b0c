#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"

namespace service {

/// A table of text with aligned columns, two spaces apart. The first row is the heading; columns
/// named in `right` are flushed right. Cells may hold what others chose (proto::printable).
std::string format_table(std::vector<std::vector<std::string>> rows,
                         const std::vector<bool>& right);

/// The result of a calibration for people: the verdict, parameters with standard deviations, units
/// and start values, bounds that were hit, sharp combinations, the open-loop error of each hinge
/// [mrad], directions the data cannot see, notes, and how the solver ended.
std::string format_calibration(const estimator::Calibration& calibration, double wall_time);

}  // namespace service
