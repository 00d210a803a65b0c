#pragma once

#include <string>
#include <vector>

namespace service {

/// Cells between commas, quoted where they need it, with a line end.
std::string csv_row(const std::vector<std::string>& cells);

}  // namespace service
