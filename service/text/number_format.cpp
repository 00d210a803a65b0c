#include "service/text/number_format.hpp"

#include <algorithm>
#include <cctype>

namespace service {

std::string capitalise_first_letter(std::string text) {
  if (!text.empty()) {
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  }
  return text;
}

std::vector<std::string> wrap_text(const std::string& text, int width, int indent) {
  std::vector<std::string> lines = {""};
  bool is_empty = true;  // the last line, except for its indent
  for (std::size_t at = 0; at < text.size();) {
    // A word with the spaces before it.
    const std::size_t word = std::min(text.find_first_not_of(' ', at), text.size());
    const std::size_t end = std::min(text.find(' ', word), text.size());
    if (!is_empty &&
        display_width(lines.back()) + display_width(text.substr(at, end - at)) > width) {
      lines.emplace_back(static_cast<std::size_t>(indent), ' ');
      at = word;
    }
    lines.back() += text.substr(at, end - at);
    is_empty = false;
    at = end;
  }
  return lines;
}

int display_width(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string format_iteration(const std::string& stage, int iteration, double cost, double gradient,
                             bool cost_has_changed) {
  return stage + ": iteration " + std::to_string(iteration) + "  cost " + format_number(cost, 7) +
         "  gradient " + format_number(gradient, 2) +
         (cost_has_changed ? "  (new cost function: not comparable with the costs above)" : "");
}

}  // namespace service
