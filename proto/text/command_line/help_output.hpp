#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace proto {

/// Shells for which a completion script can be written.
inline const std::vector<std::string> kShells = {"bash", "zsh", "fish"};

/// Returns the manual page (section 1, roff) of a program, or of one of its commands
/// ("rigcal-calibrate"), generated from its --help text.
/// @param command  the program itself, or one of its commands
std::string manual_page(const CLI::App& program, const CLI::App& command);

/// Returns a script that completes a program's commands, options, choices and file names.
/// @param shell  one of kShells
std::string completion_script(const CLI::App& program, const std::string& shell);

/// Adds --man to the program and its commands, and --completion to the program. Each prints its
/// text and exits. Call it after all other options have been added.
void add_help_output_options(CLI::App& program);

}  // namespace proto
