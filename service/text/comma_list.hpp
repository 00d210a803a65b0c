#pragma once

#include <string>
#include <vector>

namespace service {

/// Returns "a, b, c", or "" for an empty list.
inline std::string comma_list(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

}  // namespace service
