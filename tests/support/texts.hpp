#pragma once

#include <gtest/gtest.h>

#include <string>

namespace test_support {

/// Returns the text with the first `from` replaced by `to`. Fails the test if there is none.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// Returns how often a text contains a part, without overlap.
inline int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++count;
  }
  return count;
}

}  // namespace test_support
