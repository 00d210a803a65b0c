#include "service/text/number_format.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

namespace service {
namespace {

std::string print(const char* format, int precision, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, precision, value);
  return text;
}

/// Exponent of the first significant digit of a positive number after rounding to two digits.
int leading_exponent(double value) {
  const int exponent = static_cast<int>(std::floor(std::log10(value)));
  return value / std::pow(10.0, exponent) >= 9.95 ? exponent + 1 : exponent;
}

/// Exponent of the notation for numbers of this magnitude: 0 from 0.001 to 99 999, a multiple of 3
/// beyond.
int notation_exponent(double magnitude) {
  if (!(magnitude > 0.0) || (magnitude >= 1e-3 && magnitude < 1e5)) return 0;
  return 3 * static_cast<int>(std::floor(std::log10(magnitude) / 3.0));
}

std::string exponent_suffix(int exponent) {
  return exponent == 0 ? std::string() : std::string("e").append(std::to_string(exponent));
}

}  // namespace

std::string format_number(double value, int digits) {
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  std::string text = print("%.*g", digits, value);
  // "1e-05" reads better as "1e-5".
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  std::string exponent = text.substr(e + 1);
  const bool negative = exponent.front() == '-';
  exponent.erase(0, exponent.find_first_not_of("+-0"));
  return text.substr(0, e) + (negative ? "e-" : "e") + exponent;
}

std::string format_quantity(double value, int digits) {
  if (!std::isfinite(value)) return format_number(value);
  const int exponent = notation_exponent(std::abs(value));
  const double scaled = value / std::pow(10.0, exponent);
  // A mantissa of more digits than asked for is rounded to a whole number: "260e-9", not
  // "2.6e2e-9".
  const double whole = std::round(scaled);
  const std::string mantissa = std::abs(scaled) >= std::pow(10.0, digits)
                                   ? print("%.*f", 0, whole)
                                   : format_number(scaled, digits);
  return mantissa + exponent_suffix(exponent);
}

Measured format_measured(double value, double standard_deviation) {
  const double sd = standard_deviation;
  if (!std::isfinite(value)) return {format_number(value), "-"};
  if (std::isinf(sd)) return {format_quantity(value, 5), "inf"};
  if (!(sd > 0.0)) return {format_quantity(value, 6), "-"};
  const double largest = std::max(std::abs(value), sd);
  const int exponent = notation_exponent(largest);
  const double scale = std::pow(10.0, exponent);
  const int decimals = std::clamp(1 - leading_exponent(sd / scale), 0, 12);
  const std::string suffix = exponent_suffix(exponent);
  std::string rounded = print("%.*f", decimals, value / scale);
  // "0e-6" and "-0.0" are plain zeros.
  rounded = rounded.find_first_of("123456789") == std::string::npos ? "0" : rounded + suffix;
  return {rounded, print("%.*f", decimals, sd / scale) + suffix};
}

std::string as_sentence(std::string text) {
  if (!text.empty()) {
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  }
  return text + ".";
}

int display_width(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace service
