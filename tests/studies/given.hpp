#pragma once

#include <string>

#include "proto/text/text_file.hpp"

namespace service {

/// Returns a required number of a study file. Ranges (study_ranges.hpp) were checked when the text
/// was parsed; missing fields read 0.
/// @throws InputError naming file, line, column and field of a missing number
template <typename Number>
Number given(Number value, const proto::TextLocator& place, const char* field) {
  if (value != 0) return value;
  place.at(field).fail(std::string(field) + " must be given, above 0");
}

}  // namespace service
