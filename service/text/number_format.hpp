#pragma once

#include <fmt/core.h>  // IWYU pragma: export

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "proto/notation/number_format.hpp"

namespace service {

using notation::format_measured;
using notation::format_number;
using notation::format_range;
using notation::format_signed;
using notation::format_with_deviation;
using notation::MeasuredText;
using notation::QuantityFormat;

/// Returns a text with its first letter capitalised.
std::string capitalise_first_letter(std::string text);

/// Returns a text as a sentence: with a capital first letter and a full stop.
inline std::string format_sentence(std::string text) {
  return capitalise_first_letter(std::move(text)) + ".";
}

/// Width of tables and of wrapped text on a terminal, in columns.
inline constexpr int kTextColumnsMax = 100;

/// Wraps a text at spaces and returns its lines. A word longer than `width` is not broken.
/// @param width, indent  largest width of a line, and indent of all lines after the first [columns]
std::vector<std::string> wrap_text(const std::string& text, int width, int indent = 0);

/// Returns the number of columns that a UTF-8 text occupies in a terminal.
int display_width(const std::string& text);

/// Returns a progress line of an optimization, e.g. "joint estimation: iteration 3  cost 12.5
/// gradient 0.1".
///
/// @param cost_has_changed  whether to note that the cost function differs from the last line's
std::string format_iteration(const std::string& stage, int iteration, double cost, double gradient,
                             bool cost_has_changed);

/// Joins the texts of items to a list such as "a, b, c"; "" if there are no items.
/// @param text  returns the text of an item; may be a member of the items
template <typename Items, typename Text = std::identity>
std::string join_items(const Items& items, const Text& text = {}, const char* separator = ", ") {
  std::string list;
  for (const auto& item : items) {
    if (!list.empty()) list += separator;
    list += std::invoke(text, item);
  }
  return list;
}

}  // namespace service
