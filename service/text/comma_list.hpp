#pragma once

#include <functional>
#include <string>

namespace service {

/// Returns the items as a list such as "a, b, c"; "" if there are no items.
/// @param text  returns the text of an item; may be a member of the items
template <typename Items, typename Text = std::identity>
std::string comma_list(const Items& items, const Text& text = {}, const char* separator = ", ") {
  std::string list;
  for (const auto& item : items) {
    if (!list.empty()) list += separator;
    list += std::invoke(text, item);
  }
  return list;
}

}  // namespace service
