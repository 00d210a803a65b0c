#include "service/report/number_format.hpp"

#include <algorithm>
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

Measured format_measured(double value, double standard_deviation) {
  const double sd = standard_deviation;
  if (!std::isfinite(value)) return {format_number(value), "-"};
  if (std::isinf(sd)) return {format_number(value, 5), "inf"};
  if (!(sd > 0.0)) return {format_number(value, 8), "-"};
  const double largest = std::max(std::abs(value), sd);
  int exponent = 0;
  if (largest < 1e-3 || largest >= 1e5) {
    exponent = 3 * static_cast<int>(std::floor(leading_exponent(largest) / 3.0));
  }
  const double scale = std::pow(10.0, exponent);
  const int decimals = std::clamp(1 - leading_exponent(sd / scale), 0, 12);
  std::string suffix;
  if (exponent != 0) suffix.append("e").append(std::to_string(exponent));
  return {print("%.*f", decimals, value / scale) + suffix,
          print("%.*f", decimals, sd / scale) + suffix};
}

int display_width(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace service
