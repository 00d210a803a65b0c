#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace proto {

/// An option or positional argument of a command, for manual pages and completions.
struct OptionInfo {
  std::vector<std::string> names;  ///< "-h", "--help"; a positional argument has only its name
  std::string value;               ///< its value: "FILE", "physical|shadow"; empty: none
  std::string help;
  std::string group;  ///< heading; empty: hidden
  std::string initial;
  std::string environment;
  std::vector<std::string> choices;  ///< accepted words
  bool takes_file = false;           ///< accepts a file or folder, perhaps in addition to `choices`
  bool positional = false;
  bool required = false;
  bool repeated = false;
};

/// Returns the visible options of a command, in the order of its help.
std::vector<OptionInfo> options_of(const CLI::App& command);

/// Returns the commands of a program, in the order of its help.
std::vector<const CLI::App*> commands_of(const CLI::App& program);
std::vector<std::string> command_names(const CLI::App& program);

}  // namespace proto
