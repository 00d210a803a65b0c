#include "service/text/number_format.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "estimator/calibrate/number_text.hpp"

namespace service {
namespace {

std::string fixed(int decimals, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

/// Exponent of the first significant digit of a positive number after rounding to two digits.
int leading_exponent(double value) {
  const int exponent = static_cast<int>(std::floor(std::log10(value)));
  return value / std::pow(10.0, exponent) >= 9.95 ? exponent + 1 : exponent;
}

/// "0.00", "-0" and "-0.0" are plain zeros.
bool is_zero(const std::string& digits) {
  return digits.find_first_of("123456789") == std::string::npos;
}

}  // namespace

std::string format_number(double value, int digits) {
  return estimator::number_text(value, digits);
}

Measured format_measured(double value, double standard_deviation) {
  constexpr double kShareMin = 1e-12;  // of the value; double precision ends at 1e-16
  const double sd = standard_deviation;
  if (!std::isfinite(value)) return {format_number(value), "-"};
  if (std::isinf(sd)) return {format_number(value, 5), "inf"};
  if (!(sd > 0.0)) return {format_number(value, 6), "-"};
  if (sd < kShareMin * std::abs(value)) return {format_number(value, 12), format_number(sd, 2)};
  for (int exponent = estimator::notation_exponent(std::max(std::abs(value), sd));;
       exponent = estimator::next_notation(exponent)) {
    const double scale = std::pow(10.0, exponent);
    const int decimals = std::max(0, 1 - leading_exponent(sd / scale));
    const std::string rounded = fixed(decimals, value / scale);
    const std::string deviation = fixed(decimals, sd / scale);
    const double largest = std::max(std::abs(std::strtod(rounded.c_str(), nullptr)),
                                    std::strtod(deviation.c_str(), nullptr));
    if (estimator::outgrows_notation(largest, exponent)) continue;
    const std::string suffix = estimator::exponent_text(exponent);
    return {is_zero(rounded) ? "0" : rounded + suffix, deviation + suffix};
  }
}

std::string format_signed(double value, int digits) {
  std::string text = value > 0.0 ? "+" : "";
  return text += format_number(value, digits);
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
