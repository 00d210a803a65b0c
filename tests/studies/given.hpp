#pragma once

#include <string>

#include "proto/text/text_file.hpp"

namespace service {

/// Returns a number that a study file must contain. Parsing the file has already checked its range
/// (study_ranges.hpp), and a missing number reads 0.
/// @throws InputError naming file, line, column and field of a missing number
template <typename Number>
Number given(Number value, const proto::TextLocator& place, const char* field) {
  if (value != 0) return value;
  place.at(field).fail(std::string(field) + " must be given, above 0");
}

}  // namespace service
