#include "estimator/calibrate/number_text.hpp"

#include <charconv>
#include <cmath>

namespace estimator {
namespace {

std::string print(double value, std::chars_format format, int precision) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value, format, precision).ptr};
}

double read(const std::string& text) {
  double value = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Numbers are plain from 0.001 to below this.
constexpr double kPlainEnd = 1e5;

/// With so many significant digits; a mantissa of more digits before the point is whole: "260e-9",
/// not "2.6e2e-9".
std::string print_mantissa(double mantissa, int digits) {
  const auto whole = [](double value) { return print(value, std::chars_format::fixed, 0); };
  if (std::abs(mantissa) >= std::pow(10.0, digits)) return whole(mantissa);
  const std::string text = print(mantissa, std::chars_format::general, digits);
  const bool rounded_up = text.find('e') != std::string::npos;  // 99.6 to two digits: "1e+02"
  return rounded_up ? whole(read(text)) : text;
}

}  // namespace

int notation_exponent(double magnitude) {
  if (!(magnitude > 0.0) || (magnitude >= 1e-3 && magnitude < kPlainEnd)) return 0;
  const int exponent = 3 * static_cast<int>(std::floor(std::log10(magnitude) / 3.0));
  return exponent == -3 ? -6 : exponent;  // just below 0.001
}

int next_notation(int exponent) { return exponent == -6 ? 0 : exponent + 3; }

bool outgrows_notation(double mantissa, int exponent) {
  return std::abs(mantissa) >= (exponent == 0 ? kPlainEnd : 1e3);
}

std::string exponent_text(int exponent) {
  return exponent == 0 ? std::string() : std::string("e").append(std::to_string(exponent));
}

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  if (value == 0.0) return "0";
  for (int exponent = notation_exponent(std::abs(value));; exponent = next_notation(exponent)) {
    const std::string mantissa = print_mantissa(value / std::pow(10.0, exponent), digits);
    if (outgrows_notation(read(mantissa), exponent)) continue;
    return mantissa + exponent_text(exponent);
  }
}

}  // namespace estimator
