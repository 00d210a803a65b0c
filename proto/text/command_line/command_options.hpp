#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace proto {

/// An option or positional argument of a command, for manual pages and completions.
struct OptionInfo {
  std::vector<std::string> names;  ///< "-h", "--help"; a positional argument has only its name
  std::string value;               ///< type of its value: "FILE", "physical|shadow"; empty: none
  std::string help;
  std::string group;  ///< heading; empty: hidden
  std::string initial;
  std::string environment;
  std::vector<std::string> choices;  ///< accepted words
  bool takes_file = false;           ///< accepts a file or folder, possibly besides `choices`
  bool positional = false;
  bool required = false;
  bool repeated = false;
};

/// Returns the visible options of a command, in the order of its help text.
std::vector<OptionInfo> list_options(const CLI::App& command);

/// Returns the commands of a program, in the order of its help text.
std::vector<const CLI::App*> list_commands(const CLI::App& program);
std::vector<std::string> list_command_names(const CLI::App& program);

/// Shells for which a completion script can be written.
inline const std::vector<std::string> kShells = {"bash", "zsh", "fish"};

/// Returns the manual page (section 1, roff) of a program, or of one of its commands
/// ("rigcal-calibrate"), generated from its --help text.
/// @param command  the program itself, or one of its commands
std::string make_manual_page(const CLI::App& program, const CLI::App& command);

/// Returns a script that completes a program's commands, options, choices and file names.
/// @param shell  one of kShells
std::string make_completion_script(const CLI::App& program, const std::string& shell);

/// Adds --man to the program and its commands, and --completion to the program. Each prints its
/// text and exits. Call it after all other options have been added.
void add_help_output_options(CLI::App& program);

}  // namespace proto
