#pragma once

#include <string>

namespace estimator {

// Numbers for people, in messages, tables and pages: plain from 0.001 to 99 999, with an exponent
// that is a multiple of 3 beyond ("115.9e-6", "0.0044", "1.23e6"), so that one thousandth and one
// million of a unit read as its milli and mega.

/// So many significant digits, without trailing zeros, and all of a number's whole digits. "inf",
/// "-inf", "-" for NaN.
std::string number_text(double value, int digits = 3);

/// A name as messages write it: 'arm'.
inline std::string quoted(const std::string& name) { return "'" + name + "'"; }

/// Exponent of the notation for numbers of this magnitude: 0 where they are plain.
int notation_exponent(double magnitude);

/// Notation of the next larger numbers.
int next_notation(int exponent);

/// Whether rounding has made a mantissa one of the next notation: "1000e-6", "100000".
bool outgrows_notation(double mantissa, int exponent);

/// "e-6"; empty for plain numbers.
std::string exponent_text(int exponent);

}  // namespace estimator
