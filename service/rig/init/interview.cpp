#include "service/rig/init/interview.hpp"

#include <charconv>
#include <cmath>
#include <istream>
#include <ostream>

#include "service/text/number_format.hpp"

namespace service {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<double> parse_size(const std::string& text) {
  if (text.empty()) return std::nullopt;
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc() || rest != end || !std::isfinite(value) || !(value > 0.0)) {
    throw proto::InputError(
        "\"" + text +
        "\" is not a positive number. Write a number such as 0.25, or leave it empty if unknown");
  }
  return value;
}

}  // namespace

std::string Interview::ask(const std::string& question, const std::string& otherwise) {
  out_ << question << (otherwise.empty() ? "" : " [" + otherwise + "]") << ": " << std::flush;
  std::string line;
  if (!std::getline(in_, line)) {
    out_ << '\n';
    throw Ended();
  }
  const std::string answer = trimmed(line);
  return answer.empty() ? otherwise : answer;
}

bool Interview::ask_yes(const std::string& question, bool otherwise) {
  return ask_until<bool>(question + " (y/n)", otherwise ? "y" : "n", [](const std::string& text) {
    if (text == "y" || text == "yes") return true;
    if (text == "n" || text == "no") return false;
    throw proto::InputError("\"" + text + "\" is neither y nor n");
  });
}

std::optional<double> Interview::ask_size(const std::string& question,
                                          const std::optional<double>& otherwise) {
  return ask_until<std::optional<double>>(
      question, otherwise ? format_number(*otherwise, 8) : std::string(), parse_size);
}

void Interview::say(const std::string& sentence) { out_ << sentence << '\n'; }

}  // namespace service
