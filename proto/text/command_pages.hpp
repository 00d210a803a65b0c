#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace proto {

/// Shells whose completion can be written.
inline const std::vector<std::string> kShells = {"bash", "zsh", "fish"};

/// Manual page (section 1, roff) of a program, or of one of its commands ("rigcal-calibrate"), made
/// from what --help prints.
/// @param command  the program itself, or one of its commands
std::string manual_page(const CLI::App& program, const CLI::App& command);

/// Script that completes commands, options, choices and file names of a program.
/// @param shell  one of kShells
std::string completion_script(const CLI::App& program, const std::string& shell);

/// Adds --man to the program and its commands, and --completion to the program: each prints and
/// ends. Call it when everything else has been added.
void add_page_options(CLI::App& program);

}  // namespace proto
