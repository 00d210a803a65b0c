#include "proto/text/line_diff.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace proto {
namespace {

// With more pairs of lines, everything between the first and the last change is shown.
constexpr std::size_t kPairsMax = 4'000'000;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string numbered(std::size_t index, char sign, std::string_view line) {
  char number[32];
  std::snprintf(number, sizeof number, "%5zu %c ", index + 1, sign);
  return number + std::string(line) + '\n';
}

}  // namespace

std::string line_diff(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> a = lines_of(before), b = lines_of(after);
  std::size_t begin = 0;
  while (begin < a.size() && begin < b.size() && a[begin] == b[begin]) ++begin;
  std::size_t end_a = a.size(), end_b = b.size();
  while (end_a > begin && end_b > begin && a[end_a - 1] == b[end_b - 1]) --end_a, --end_b;

  // common[i][j]: length of the longest common subsequence of the lines from i and from j on.
  const std::size_t rows = end_a - begin, columns = end_b - begin;
  const bool is_small = rows * columns <= kPairsMax;
  std::vector<std::uint32_t> common(is_small ? (rows + 1) * (columns + 1) : 0, 0);
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& {
    return common[i * (columns + 1) + j];
  };
  for (std::size_t i = rows; is_small && i-- > 0;) {
    for (std::size_t j = columns; j-- > 0;) {
      at(i, j) = a[begin + i] == b[begin + j] ? at(i + 1, j + 1) + 1
                                              : std::max(at(i + 1, j), at(i, j + 1));
    }
  }
  std::string diff;
  for (std::size_t i = 0, j = 0; i < rows || j < columns;) {
    if (is_small && i < rows && j < columns && a[begin + i] == b[begin + j]) {
      ++i, ++j;
    } else if (i < rows && (!is_small || j == columns || at(i + 1, j) >= at(i, j + 1))) {
      diff += numbered(begin + i, '-', a[begin + i]);
      ++i;
    } else {
      diff += numbered(begin + j, '+', b[begin + j]);
      ++j;
    }
  }
  return diff;
}

}  // namespace proto
