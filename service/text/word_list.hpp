#pragma once

#include <string>
#include <vector>

namespace service {

/// "a, b, c"; "" of nothing.
inline std::string word_list(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

}  // namespace service
