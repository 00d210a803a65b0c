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

/// With a capital at its beginning and a full stop at its end.
std::string as_sentence(std::string text);

/// Columns a UTF-8 text takes on a terminal.
int display_width(const std::string& text);

}  // namespace service
