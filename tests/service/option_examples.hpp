#pragma once

#include <gtest/gtest.h>

#include <string>

#include "service/options/option_texts.hpp"

namespace service {

/// Returns a value of an option in its range that differs from its default.
inline std::string example(const estimator::OptionRow& row) {
  const std::string original = format_option(row, {});
  if (row.is_flag()) return original == "true" ? "false" : "true";
  if (const auto* list = std::get_if<estimator::EnumOption>(&row.member)) {
    return std::string(list->words.back() == original ? list->words.front() : list->words.back());
  }
  return std::holds_alternative<int estimator::CalibrationOptions::*>(row.member) ? "17" : "0.125";
}

/// Returns the option with its example on the command line; empty for options that it lacks.
inline std::string argument(const estimator::OptionRow& row) {
  if (find_option_help(row).empty() && row.name != "parameters") return "";
  return " --" + std::string(row.name) + (row.is_flag() ? "" : " " + example(row));
}

/// Expects that exactly these options have their examples, and all others their defaults.
template <typename IsGiven>
void expect_examples(const estimator::CalibrationOptions& options, const IsGiven& is_given) {
  for (const estimator::OptionRow& row : estimator::kOptionRows) {
    EXPECT_EQ(format_option(row, options), is_given(row) ? example(row) : format_option(row, {}))
        << row.name;
  }
}

inline bool is_on_command_line(const estimator::OptionRow& row) { return !argument(row).empty(); }

}  // namespace service
