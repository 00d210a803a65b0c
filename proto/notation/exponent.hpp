#pragma once

#include <string>

namespace notation {

// Which exponent a number has, and what it is written with; see number_format.

constexpr double kPlainBegin = 1e-3;
constexpr double kPlainEnd = 1e5;

/// Whether a number of this size that is rounded to so many decimals needs no exponent.
bool may_be_plain(double size, int decimals);

/// The largest multiple of 3 that leaves a positive number at least 1.
int engineering_exponent(double size);

/// Exponent of the first digit of a positive number that is rounded to so many digits.
int leading_exponent(double size, int digits);

/// "e-6"; empty for 0.
std::string exponent_text(int exponent);

/// Rounded to so many decimals.
std::string fixed(double number, int decimals);

/// What a text without blanks says.
double read(const std::string& text);

/// "0.00", "-0" and "-0.0" are plain zeros.
bool is_zero(const std::string& digits);

}  // namespace notation
