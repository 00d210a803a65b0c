#pragma once

#include <vector>

namespace service {

/// Returns the largest power of ten that divides all time stamps [s], at least 1 µs; 0 if there is
/// none.
double rounding_unit(const std::vector<double>& stamps);

/// Recovers the regular sampling times of rows whose time stamps are rounded to more than half a
/// period, such as 137 rows per second with time stamps of 10 ms. Successive time stamps may be
/// equal. Returns no times in three cases: the time stamps are not rounded that coarsely; between
/// two pauses, they deviate from a regular clock by more than their rounding; or the readings agree
/// better with the time stamps than with a regular clock, because rows are missing.
/// @param stamps    not decreasing [s]
/// @param readings  columns of readings, one value per row; NaN if missing
std::vector<double> recover_rounded_clock(const std::vector<double>& stamps,
                                          const std::vector<std::vector<double>>& readings);

}  // namespace service
