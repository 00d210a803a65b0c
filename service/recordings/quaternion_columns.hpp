#pragma once

#include <string>
#include <vector>

#include "proto/text/table/csv_table.hpp"

namespace service {

/// Scales the quaternions of four columns to the norm 1, and chooses the sign of each so that
/// consecutive quaternions of a recording are continuous: q and -q are the same orientation. A row
/// in which a component is missing has no quaternion.
///
/// @param columns  indices of w, x, y, z among the requested columns of the table
/// @param notes    receives a note on orientations that jump by more than a quarter turn
/// @throws proto::InputError at the first row whose norm deviates from 1 by more than 1 %
void normalize_quaternions(const std::vector<int>& columns, proto::CsvTable& table,
                           std::vector<std::string>& notes);

}  // namespace service
