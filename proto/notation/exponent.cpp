#include "proto/notation/exponent.hpp"

#include <charconv>
#include <cmath>

namespace notation {

bool needs_no_exponent(double size, int decimals) {
  constexpr int kDecimalsMax = 6;  // below 1; with more decimals a reader has to count zeros
  if (size == 0.0) return true;
  return size >= kPlainBegin && size < kPlainEnd && (decimals <= kDecimalsMax || size >= 1.0);
}

int engineering_exponent(double size) {
  return 3 * static_cast<int>(std::floor(std::log10(size) / 3.0));
}

int leading_exponent(double size, int digits) {
  const int exponent = static_cast<int>(std::floor(std::log10(size)));
  const double rounds_up = 10.0 - 0.5 * std::pow(10.0, 1 - digits);
  return size / std::pow(10.0, exponent) >= rounds_up ? exponent + 1 : exponent;
}

std::string exponent_text(int exponent) {
  return exponent == 0 ? std::string() : std::string("e").append(std::to_string(exponent));
}

std::string fixed(double number, int decimals) {
  char text[400];  // the largest number has 309 digits before its point
  return {text,
          std::to_chars(text, text + sizeof text, number, std::chars_format::fixed, decimals).ptr};
}

double read(const std::string& text) {
  double value = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool is_zero(const std::string& digits) {
  return digits.find_first_of("123456789") == std::string::npos;
}

}  // namespace notation
