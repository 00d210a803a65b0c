#pragma once

#include <string>

#include "proto/notation/number_format.hpp"

namespace estimator {

/// Returns a number as text for messages, with three significant digits by default.
inline std::string number_text(double value, int digits = 3) {
  return notation::format_number(value, digits);
}

/// Returns a name in double quotes, for messages.
inline std::string quoted(const std::string& name) { return '"' + name + '"'; }

}  // namespace estimator
