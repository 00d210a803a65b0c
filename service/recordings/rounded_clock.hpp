#pragma once

#include <vector>

namespace service {

/// Returns the largest power of ten that divides all time stamps [s], at least 1 µs; 0 if there is
/// none.
double rounding_unit(const std::vector<double>& stamps);

/// Recovers the regular sampling times of rows whose time stamps are rounded to more than half a
/// period, such as 137 rows per second with time stamps of 10 ms. Successive time stamps may be
/// equal. Returns no times if the stamps are finer, if rounding does not explain all their
/// deviations from a regular clock between two pauses, or if the readings fit the stamps better,
/// because rows are missing.
/// @param stamps    not decreasing [s]
/// @param readings  columns of readings, one value per row; NaN if missing
std::vector<double> recover_rounded_clock(const std::vector<double>& stamps,
                                          const std::vector<std::vector<double>>& readings);

}  // namespace service
