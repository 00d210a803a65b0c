#include <algorithm>
#include <charconv>
#include <cmath>

#include "estimator/fit/fit_options.hpp"
#include "proto/notation/number_format.hpp"

namespace estimator {
namespace {

using Number = double CalibrationOptions::*;
using Count = int CalibrationOptions::*;
using Flag = bool CalibrationOptions::*;

bool set_number(const OptionRow& row, std::string_view text, CalibrationOptions& options) {
  double number = 0.0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size()) return false;
  if (!std::isfinite(number) || number < row.range.min || number > row.range.max) return false;
  if (const auto* member = std::get_if<Number>(&row.member)) {
    options.*(*member) = number;
    return true;
  }
  if (std::trunc(number) != number) return false;
  options.*std::get<Count>(row.member) = static_cast<int>(number);
  return true;
}

}  // namespace

std::string format_option(const OptionRow& row, const CalibrationOptions& options) {
  if (const auto* words = std::get_if<EnumOption>(&row.member)) {
    const int index = words->get(options);
    return index < 0 ? "" : std::string(words->words[index]);
  }
  if (const auto* flag = std::get_if<Flag>(&row.member)) return options.**flag ? "true" : "false";
  const auto* count = std::get_if<Count>(&row.member);
  return notation::format_exact(count ? options.**count : options.*std::get<Number>(row.member));
}

bool set_option(const OptionRow& row, std::string_view text, CalibrationOptions& options) {
  if (const auto* flag = std::get_if<Flag>(&row.member)) {
    if (text != "true" && text != "false") return false;
    options.*(*flag) = text == "true";
    return true;
  }
  const auto* list = std::get_if<EnumOption>(&row.member);
  if (list == nullptr) return set_number(row, text, options);
  const auto found = std::ranges::find(list->words, text);
  if (found != list->words.end()) list->set(options, static_cast<int>(found - list->words.begin()));
  return found != list->words.end();
}

bool has_default_value(const OptionRow& row, const CalibrationOptions& options) {
  return format_option(row, options) == format_option(row, {});
}

bool is_in_range(const OptionRow& row, const CalibrationOptions& options) {
  CalibrationOptions copy;
  return set_option(row, format_option(row, options), copy);
}

std::string describe_option_values(const OptionRow& row) {
  if (row.is_flag()) return "true or false";
  std::string text;
  if (const auto* list = std::get_if<EnumOption>(&row.member)) {
    for (const auto& word : list->words) text.append(text.empty() ? "" : " or ").append(word);
    return text;
  }
  const auto& [min, max] = row.range;
  if (std::holds_alternative<Count>(row.member)) {
    return "a whole number from " + std::to_string(std::lround(min)) + " to " +
           std::to_string(std::lround(max));
  }
  text = "a number ";
  text += std::isfinite(max)
              ? "from " + notation::format_exact(min) + " to " + notation::format_exact(max)
              : (min > 0.0 ? "> 0" : "≥ 0");
  return row.unit.empty() ? text : text.append(" [").append(row.unit) + "]";
}

}  // namespace estimator
