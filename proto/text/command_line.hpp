#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace proto {

/// Numbers an option takes, bounds included. A NaN is none of them.
CLI::Validator number_from_to(double low, double high);

/// Any finite number above zero, from zero on, at all.
CLI::Validator positive_number();
CLI::Validator number_from_zero();
CLI::Validator finite_number();

/// Runs a program: reads its command line, calls `work`, and hands over what was printed.
///
/// Adds --man and --completion. Every option refuses an empty text. What cannot be used on the
/// command line, and what `work` or a command's callback throws, is told in one sentence on
/// standard error.
/// @param bad_input  exit status for that
/// @param work       the exit status when all went well
int run_program(CLI::App& app, int argc, char** argv, int bad_input,
                const std::function<int()>& work);

}  // namespace proto
