#pragma once

#include <string>
#include <vector>

namespace service {

/// Cells between commas, quoted where they need it, with a line end.
std::string csv_row(const std::vector<std::string>& cells);

/// A number with ten significant digits: more than sensors have, in less space than exact ones.
std::string csv_number(double value);

}  // namespace service
