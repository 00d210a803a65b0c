#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace proto {

/// One option or positional argument of a command, as pages and completions show it.
struct OptionText {
  std::vector<std::string> names;  ///< "-h", "--help"; of a positional its name alone
  std::string value;               ///< what it takes: "FILE", "physical|shadow"; empty: nothing
  std::string help;
  std::string group;  ///< heading; empty: hidden
  std::string initial;
  std::string environment;
  std::vector<std::string> choices;  ///< words it takes
  bool takes_file = false;           ///< a file or folder, perhaps beside words
  bool positional = false;
  bool required = false;
  bool repeated = false;
};

/// The options of a command, in the order of its help; hidden ones are left out.
std::vector<OptionText> options_of(const CLI::App& command);

/// The commands of a program, in the order of its help.
std::vector<const CLI::App*> commands_of(const CLI::App& program);
std::vector<std::string> command_names(const CLI::App& program);

}  // namespace proto
