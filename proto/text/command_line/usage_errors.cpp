#include "proto/text/command_line/usage_errors.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "proto/text/command_line/command_options.hpp"
#include "proto/text/printable.hpp"
#include "proto/text/spelling_suggestions.hpp"

namespace proto {
namespace {

/// Returns the command that was being parsed; the program itself if there was none.
const CLI::App& command_of(const CLI::App& program) {
  const std::vector<CLI::App*> commands = program.get_subcommands();
  return commands.empty() ? program : *commands.front();
}

/// Returns the argument that the command does not accept: an unknown option, else a word.
std::string unexpected(const CLI::App& command) {
  const std::vector<std::string> rest = command.remaining();
  const auto option = std::ranges::find_if(
      rest, [](const std::string& word) { return word.size() > 1 && word.front() == '-'; });
  if (option != rest.end()) return option->substr(0, option->find('='));
  return rest.empty() ? "" : rest.front();
}

std::string refuse_unexpected(const CLI::App& command, const std::string& word) {
  if (word.front() != '-') return "\"" + escape_for_terminal(word) + "\" is an unexpected argument";
  std::vector<std::string> names;
  for (const OptionInfo& option : options_of(command)) {
    if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return "unknown option \"" + escape_for_terminal(word) + "\"" + did_you_mean(word, names);
}

/// Returns the parser's message, reworded where it is unclear.
std::string in_words(const CLI::ParseError& error) {
  const std::string text = error.what();
  constexpr std::string_view kNoNumber = "Could not convert: ";
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && text.ends_with("missing")) {
    return text.substr(0, text.find(':')) + ": a value is missing";
  }
  const std::size_t equals = text.find(" = ");
  if (text.starts_with(kNoNumber) && equals != std::string::npos) {
    const std::string value = text.substr(equals + 3);
    return text.substr(kNoNumber.size(), equals - kNoNumber.size()) + ": \"" + value +
           "\" is not a number" + suggest_decimal_point(value);
  }
  return text;
}

}  // namespace

std::string suggest_decimal_point(const std::string& text) {
  if (std::ranges::count(text, ',') != 1) return "";
  std::string pointed = text;
  pointed[text.find(',')] = '.';
  double value = 0.0;
  if (!CLI::detail::lexical_cast(pointed, value) || !std::isfinite(value)) return "";
  return "; write a decimal point: " + pointed;
}

std::string describe_usage_error(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& command = command_of(program);
  const std::string name =
      program.get_name() + (&command == &program ? "" : " " + command.get_name());
  // If a required option is mistyped, it is reported as missing.
  const bool lacks = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const bool extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const std::string word = lacks || extra ? unexpected(command) : "";
  const bool mistyped = !word.empty() && (extra || word.front() == '-');
  return mistyped ? refuse_unexpected(command, word) + " (see " + name + " --help)"
                  : in_words(error) + " (see " + name + " --help)";
}

}  // namespace proto
