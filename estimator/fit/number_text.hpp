#pragma once

#include <string>

#include "proto/notation/number_format.hpp"

namespace estimator {

/// A number formatted for messages, with three digits by default.
inline std::string number_text(double value, int digits = 3) {
  return notation::format_number(value, digits);
}

/// A name formatted for messages: "arm".
inline std::string quoted(const std::string& name) { return '"' + name + '"'; }

}  // namespace estimator
