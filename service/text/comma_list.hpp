#pragma once

#include <string>
#include <vector>

namespace service {

/// Returns the words as a list such as "a, b, c"; "" if there are no words.
inline std::string comma_list(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

}  // namespace service
