#pragma once

#include <string>

namespace notation {

// Helpers for the exponents of numbers, see number_format.

constexpr double kPlainBegin = 1e-3;
constexpr double kPlainEnd = 1e5;

/// Returns whether a number of this size, rounded to `decimals`, needs no exponent.
bool needs_no_exponent(double size, int decimals);

/// Returns the exponent of a positive number in engineering notation: the largest multiple of 3
/// with a mantissa of at least 1.
int engineering_exponent(double size);

/// Returns the exponent of the first digit of a positive number rounded to `digits` digits.
int leading_exponent(double size, int digits);

/// Returns an exponent as text, such as "e-6"; empty for 0.
std::string exponent_text(int exponent);

/// Returns the number rounded to `decimals`, without exponent.
std::string fixed(double number, int decimals);

/// Returns the number that a text without blanks represents.
double read(const std::string& text);

/// Returns whether a text such as "0.00", "-0" or "-0.0" is zero.
bool is_zero(const std::string& digits);

}  // namespace notation
