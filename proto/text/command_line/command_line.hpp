#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace proto {

/// Returns a hint such as "; write a decimal point: 0.5" for a number with a decimal comma ("0,5");
/// otherwise an empty text.
std::string suggest_decimal_point(const std::string& text);

/// Describes a usage error of a program's command line in one sentence, with a reference to --help.
std::string describe_usage_error(const CLI::App& program, const CLI::ParseError& error);

/// Returns a validator that accepts numbers from `low` to `high`, inclusive, and rejects NaN.
CLI::Validator number_from_to(double low, double high);

/// Returns a validator that accepts integers from `low` to `high`, inclusive.
CLI::Validator count_from_to(int low, int high);

/// Return validators for finite numbers: numbers above zero, numbers of at least zero, or any
/// finite number.
CLI::Validator positive_number();
CLI::Validator nonnegative_number();
CLI::Validator finite_number();

/// Returns a validator for CLI::Option::check that accepts any of the given words.
CLI::Validator one_of(const std::vector<std::string>& words);

/// Returns a validator for CLI::Option::transform that accepts any of the given words and replaces
/// the word by its value.
template <typename Value>
CLI::Validator one_of(const std::map<std::string, Value>& values) {
  std::vector<std::string> words;
  for (const auto& [word, value] : values) words.push_back(word);
  return CLI::Validator(
      [values, is_one = one_of(words)](std::string& text) {
        std::string refusal = is_one(text);
        if (refusal.empty()) text = CLI::detail::value_string(values.at(text));
        return refusal;
      },
      "");
}

/// Runs a program: parses its command line, calls `work`, and flushes the standard output.
///
/// Adds --man and --completion. All options reject an empty text. Usage errors, and exceptions of
/// `work` or a command's callback, are reported in one sentence on standard error.
/// @param bad_input  exit status for these errors
/// @param work       returns the exit status of a successful run
int run_program(CLI::App& app, int argc, char** argv, int bad_input,
                const std::function<int()>& work);

}  // namespace proto
