#pragma once

#include <string>
#include <vector>

namespace service {

/// Returns one line of a CSV file with these cells, quoted if necessary, and a line end.
std::string format_csv_row(const std::vector<std::string>& cells);

/// Returns a number as text with ten significant digits, which is more than sensors resolve.
std::string format_csv_number(double value);

}  // namespace service
