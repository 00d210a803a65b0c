#pragma once

#include <string>

namespace service {

/// A value with its standard deviation, for people.
struct Measured {
  std::string value;               ///< e.g. "4.4012e-3"
  std::string standard_deviation;  ///< e.g. "0.0023e-3": same decimals and exponent
};

/// Rounds both to the second significant digit of the standard deviation, in plain notation from
/// 0.001 to 99 999 and with an exponent that is a multiple of 3 beyond. An infinite standard
/// deviation is "inf", an unknown one (NaN, or 0 of an exact value) "-".
Measured format_measured(double value, double standard_deviation);

/// A number with so many significant digits, without trailing zeros; "inf", "-inf", "-" for NaN.
std::string format_number(double value, int digits = 4);

/// The same in the notation of `format_measured`: "115.9e-6", "0.0044", "1.23e6".
std::string format_quantity(double value, int digits = 4);

/// With a capital at its beginning and a full stop at its end.
std::string as_sentence(std::string text);

/// Columns a UTF-8 text takes on a terminal.
int display_width(const std::string& text);

}  // namespace service
