#include "service/text/name_words.hpp"

#include <cctype>
#include <utility>

namespace service {

std::vector<std::string> split_into_words(const std::string& name) {
  std::vector<std::string> words(1);
  char last = ' ';
  std::string text = name;
  for (const auto& [sign, word] : {std::pair("°", " deg "), {"µ", "u"}, {"μ", "u"}}) {
    const std::size_t at = text.find(sign);
    if (at != std::string::npos) text.replace(at, std::string_view(sign).size(), word);
  }
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    const bool letter = std::isalnum(u) != 0;
    const bool hump = std::isupper(u) != 0 && std::islower(static_cast<unsigned char>(last)) != 0;
    if ((!letter || hump) && !words.back().empty()) words.emplace_back();
    if (letter) words.back() += static_cast<char>(std::tolower(u));
    last = c;
  }
  for (std::string& word : words) {
    while (!word.empty() && std::isdigit(static_cast<unsigned char>(word.back())) != 0) {
      word.pop_back();
    }
  }
  std::erase(words, "");
  return words;
}

std::string_view text_in_brackets(std::string_view name, char open, char close) {
  if (!name.ends_with(close)) return {};
  const std::size_t at = name.rfind(open);
  if (at == std::string_view::npos) return {};
  return name.substr(at + 1, name.size() - at - 2);
}

}  // namespace service
