#pragma once

#include <string>

namespace service {

// Numbers for people, as the estimator writes them (estimator/calibrate/number_text).

/// So many significant digits.
std::string format_number(double value, int digits = 4);

/// The same with its sign: "+1.5", "-1.5", "0".
std::string format_signed(double value, int digits = 4);

/// A value with its standard deviation.
struct Measured {
  std::string value;               ///< e.g. "0.0039601", "396.01e-6"
  std::string standard_deviation;  ///< e.g. "0.0000023", "0.23e-6": same decimals and exponent
};

/// Rounds both to the second significant digit of the standard deviation, in the notation of the
/// larger. An infinite standard deviation is "inf", an unknown one (NaN, or 0 of an exact value)
/// "-". A deviation below a trillionth of its value stands for itself.
Measured format_measured(double value, double standard_deviation);

/// With a capital at its beginning and a full stop at its end.
std::string as_sentence(std::string text);

/// Columns a UTF-8 text takes on a terminal.
int display_width(const std::string& text);

}  // namespace service
