#pragma once

#include <string>

#include "proto/notation/number_format.hpp"

namespace estimator {

/// A number as messages write it; three digits tell a person enough.
inline std::string number_text(double value, int digits = 3) {
  return notation::format_number(value, digits);
}

/// A name as messages write it: 'arm'.
inline std::string quoted(const std::string& name) { return "'" + name + "'"; }

}  // namespace estimator
