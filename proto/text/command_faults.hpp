#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace proto {

/// "; write a decimal point: 0.5" of a text that would be a number with one: "0,5". Empty for
/// every other.
std::string advise_decimal_point(const std::string& text);

/// What cannot be used on a program's command line, in one sentence, with where to read on.
std::string usage_fault(const CLI::App& program, const CLI::ParseError& error);

}  // namespace proto
