#pragma once

#include <string>

#include "proto/notation/number_format.hpp"

namespace service {

using notation::format_measured;
using notation::format_number;
using notation::format_range;
using notation::format_signed;
using notation::format_with_deviation;
using notation::Measured;
using notation::Notation;

/// Returns the text with a capital first letter and a full stop.
std::string as_sentence(std::string text);

/// Returns the number of columns that a UTF-8 text occupies in a terminal.
int display_width(const std::string& text);

}  // namespace service
