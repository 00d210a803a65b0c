#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace proto {

/// Accepts numbers within bounds, inclusive. NaN is rejected.
CLI::Validator number_from_to(double low, double high);

/// Accepts integers within bounds, inclusive.
CLI::Validator count_from_to(int low, int high);

/// Accept finite numbers: above zero, at least zero, any.
CLI::Validator positive_number();
CLI::Validator nonnegative_number();
CLI::Validator finite_number();

/// Accepts one of these words, for `check`.
CLI::Validator one_of(const std::vector<std::string>& words);

/// Returns the words of a table.
template <typename Value>
std::vector<std::string> words_of(const std::map<std::string, Value>& values) {
  std::vector<std::string> words;
  for (const auto& [word, value] : values) words.push_back(word);
  return words;
}

/// Accepts one of these words and replaces it by its value, for `transform`.
template <typename Value>
CLI::Validator one_of(const std::map<std::string, Value>& values) {
  return CLI::Validator(
      [values, is_one = one_of(words_of(values))](std::string& text) {
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
