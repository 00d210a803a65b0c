#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace proto {

/// Returns "; write a decimal point: 0.5" for a decimal comma, as in "0,5"; else empty.
std::string suggest_decimal_point(const std::string& text);

/// Describes a usage error of a program's command line in one sentence, with a reference to --help.
std::string describe_usage_error(const CLI::App& program, const CLI::ParseError& error);

}  // namespace proto
