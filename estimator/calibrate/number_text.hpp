#pragma once

#include <charconv>
#include <string>

namespace estimator {

/// A number with `digits` significant digits, for messages to people.
inline std::string number_text(double value, int digits = 3) {
  char buffer[32];
  const std::to_chars_result end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, digits);
  return {buffer, end.ptr};
}

}  // namespace estimator
