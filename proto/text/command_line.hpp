#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace proto {

/// Numbers an option takes, bounds included. A NaN is none of them.
CLI::Validator number_from_to(double low, double high);

/// Whole numbers an option takes, bounds included.
CLI::Validator count_from_to(int low, int high);

/// Any finite number above zero, from zero on, at all.
CLI::Validator positive_number();
CLI::Validator number_from_zero();
CLI::Validator finite_number();

/// One of these words, for `check`.
CLI::Validator one_of(const std::vector<std::string>& words);

/// The words of a table.
template <typename Value>
std::vector<std::string> words_of(const std::map<std::string, Value>& values) {
  std::vector<std::string> words;
  for (const auto& [word, value] : values) words.push_back(word);
  return words;
}

/// One of these words, which becomes its value, for `transform`.
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
