#include "proto/text/command_line/command_options.hpp"

#include <algorithm>
#include <sstream>

namespace proto {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

/// Returns whether a part of "unix:/PATH|HOST:PORT" or "physical|shadow|FILE" is a literal word;
/// placeholders are in capitals.
bool is_enumeration(const std::string& part) {
  return !part.empty() &&
         std::ranges::all_of(part, [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

bool is_file(const std::string& part) {
  static const std::vector<std::string> kFiles = {"FILE", "FOLDER", "RECORDING", "PATH"};
  return std::ranges::find(kFiles, part) != kFiles.end();
}

/// Returns the value of an option as shown in help; empty if it takes none.
std::string value_of(const CLI::Option& option) {
  return option.get_items_expected_max() == 0 ? "" : option.get_type_name();
}

OptionInfo text_of(const CLI::Option& option) {
  OptionInfo text;
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  text.positional = text.names.empty();
  if (text.positional) text.names.push_back(option.get_name(true));
  text.value = value_of(option);
  text.help = option.get_description();
  text.group = option.get_group();
  text.initial = option.get_default_str();
  text.environment = option.get_envname();
  text.required = option.get_required();
  text.repeated = option.get_items_expected_max() > 1;
  for (const std::string& part : split(text.value, '|')) {
    if (is_enumeration(part)) text.choices.push_back(part);
    text.takes_file = text.takes_file || is_file(part);
  }
  return text;
}

}  // namespace

std::vector<OptionInfo> list_options(const CLI::App& command) {
  std::vector<OptionInfo> texts;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    texts.push_back(text_of(*option));
  }
  return texts;
}

std::vector<const CLI::App*> list_commands(const CLI::App& program) {
  const auto all = program.get_subcommands([](const CLI::App*) { return true; });
  return {all.begin(), all.end()};
}

std::vector<std::string> list_command_names(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : list_commands(program)) names.push_back(command->get_name());
  return names;
}

}  // namespace proto
