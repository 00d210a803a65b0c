#include "service/text/csv_row.hpp"

#include <charconv>

namespace service {

std::string format_csv_row(const std::vector<std::string>& cells) {
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

std::string format_csv_number(double value) {
  char digits[32];
  const auto result =  // + 0.0 turns −0 into 0
      std::to_chars(digits, digits + sizeof digits, value + 0.0, std::chars_format::general, 10);
  return {digits, result.ptr};
}

}  // namespace service
