#include "service/text/csv_row.hpp"

namespace service {

std::string csv_row(const std::vector<std::string>& cells) {
  std::string row;
  for (const std::string& cell : cells) {
    if (!row.empty() || &cell != &cells.front()) row += ',';
    if (cell.find_first_of(",\"\n") == std::string::npos) {
      row += cell;
      continue;
    }
    row += '"';
    for (const char c : cell) row += c == '"' ? std::string("\"\"") : std::string(1, c);
    row += '"';
  }
  return row + '\n';
}

}  // namespace service
