#pragma once

#include <string>
#include <vector>

namespace service {

/// Returns one CSV line: the cells, quoted where needed, with commas between and a line end.
std::string csv_row(const std::vector<std::string>& cells);

/// Returns a number with ten significant digits: more than sensors resolve, shorter than exact.
std::string csv_number(double value);

}  // namespace service
