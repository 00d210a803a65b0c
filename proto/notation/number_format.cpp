#include "proto/notation/number_format.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace notation {
namespace {

constexpr int kValueDigits = 5;      // of a value with unknown deviation
constexpr double kShareMin = 1e-12;  // of the value; double precision ends at 1e-16

/// Formats a number with `digits` digits, but keeps all before the decimal point: "260e-9", not
/// "2.6e2e-9".
std::string print_digits(double number, int digits) {
  if (std::abs(number) >= std::pow(10.0, digits)) return fixed(number, 0);
  char text[64];
  const auto end =
      std::to_chars(text, text + sizeof text, number, std::chars_format::general, digits).ptr;
  const std::string general(text, end);
  const bool rounded_up = general.find('e') != std::string::npos;  // 99.6 to two digits: "1e+02"
  return rounded_up ? fixed(read(general), 0) : general;
}

bool is_deviation(double value, double sd) {
  return std::isfinite(value) && std::isfinite(sd) && sd > 0.0 &&
         !(sd < kShareMin * std::abs(value));
}

/// Returns the number of decimals at the second significant digit of a standard deviation.
int decimals_of(double sd, int exponent) {
  return std::max(0, 1 - leading_exponent(sd / std::pow(10.0, exponent), 2));
}

/// Returns the shortest digits of a nonzero number, the same decimal number with its point moved.
std::string exact_text(double value, int exponent) {
  char scientific[32];
  const auto end = std::to_chars(scientific, scientific + sizeof scientific, std::abs(value),
                                 std::chars_format::scientific)
                       .ptr;
  const std::string text(scientific, end);
  const std::size_t e = text.find('e');
  std::string digits = text.substr(0, e);
  std::erase(digits, '.');
  int whole = std::stoi(text.substr(e + 1)) - exponent + 1;  // digits before the point
  if (whole < 1) {
    digits.insert(0, static_cast<std::size_t>(1 - whole), '0');
    whole = 1;
  }
  const auto point = static_cast<std::size_t>(whole);
  if (digits.size() < point) digits.append(point - digits.size(), '0');
  if (digits.size() > point) digits.insert(point, ".");
  return (value < 0.0 ? "-" : "") + digits + exponent_text(exponent);
}

std::string without_trailing_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

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

bool is_zero_text(const std::string& digits) {
  return digits.find_first_of("123456789") == std::string::npos;
}

std::string format_number(double value, int digits) {
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  if (value == 0.0) return "0";
  const double size = std::abs(value);
  if (size >= 0.5 * kPlainBegin && size < kPlainEnd) {
    const std::string text = print_digits(value, digits);
    const std::size_t point = text.find('.');
    const std::size_t decimals = point == std::string::npos ? 0 : text.size() - point - 1;
    if (needs_no_exponent(std::abs(read(text)), static_cast<int>(decimals))) return text;
  }
  for (int exponent = engineering_exponent(size);; exponent += 3) {
    const std::string mantissa = print_digits(value / std::pow(10.0, exponent), digits);
    if (std::abs(read(mantissa)) < 1e3) return mantissa + exponent_text(exponent);
  }
}

std::string format_signed(double value, int digits) {
  std::string text = value > 0.0 ? "+" : "";
  return text += format_number(value, digits);
}

std::string format_exact(double value) {
  const double size = std::abs(value);
  if (size >= kPlainBegin && size < kPlainEnd) return exact_text(value, 0);
  if (value == 0.0) return std::signbit(value) ? "-0" : "0";
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  return exact_text(value, engineering_exponent(size));
}

std::string format_range(double low, double high, int digits) {
  const double far = std::abs(low) > std::abs(high) ? low : high;
  const QuantityFormat notation(far, 0.0);
  return notation.number(low, digits) + " … " + notation.number(high, digits);
}

MeasuredText format_measured(double value, double standard_deviation) {
  const double sd = standard_deviation;
  if (is_deviation(value, sd)) {
    const QuantityFormat notation(value, sd);
    return {notation.format_rounded(value), notation.format_rounded(sd)};
  }
  if (!std::isfinite(value)) return {format_number(value), "-"};
  if (std::isinf(sd)) return {format_number(value, kValueDigits), "inf"};
  if (!(sd > 0.0)) return {format_number(value, kValueDigits + 1), "-"};
  return {format_number(value, 12), format_number(sd, 2)};
}

std::string format_with_deviation(double value, double standard_deviation) {
  const MeasuredText number = format_measured(value, standard_deviation);
  return number.value + " ± " + number.standard_deviation;
}

QuantityFormat::QuantityFormat(double value, double standard_deviation)
    : has_deviation_(is_deviation(value, standard_deviation)),
      has_exponent_(has_deviation_ || (std::isfinite(value) && value != 0.0)) {
  if (!has_deviation_) {
    const std::string text = format_number(value, kValueDigits);
    const std::size_t e = text.find('e');
    if (e != std::string::npos) exponent_ = static_cast<int>(std::stol(text.substr(e + 1)));
    return;
  }
  const double largest = std::max(std::abs(value), standard_deviation);
  const auto rounded_largest = [&] {
    decimals_ = decimals_of(standard_deviation, exponent_);
    return read(fixed(largest / std::pow(10.0, exponent_), decimals_));
  };
  if (largest < kPlainEnd && needs_no_exponent(rounded_largest(), decimals_)) return;
  exponent_ = engineering_exponent(largest);
  while (rounded_largest() >= 1e3) exponent_ += 3;
}

std::string QuantityFormat::format_rounded(double number) const {
  if (!has_deviation_ || !std::isfinite(number)) return this->number(number, kValueDigits);
  const std::string text = fixed(number / std::pow(10.0, exponent_), decimals_);
  return is_zero_text(text) ? "0" : text + exponent_text(exponent_);
}

bool QuantityFormat::suits(double number) const {
  const double mantissa = std::abs(number) / std::pow(10.0, exponent_);
  return has_exponent_ && mantissa >= 1e-4 && mantissa < kPlainEnd;  // false for NaN
}

std::string QuantityFormat::number(double number, int digits) const {
  if (!suits(number)) return format_number(number, digits);
  const double mantissa = number / std::pow(10.0, exponent_);
  const int decimals = std::max(0, digits - 1 - leading_exponent(std::abs(mantissa), digits));
  return without_trailing_zeros(fixed(mantissa, decimals)) + exponent_text(exponent_);
}

std::string QuantityFormat::exact(double number) const {
  return suits(number) ? exact_text(number, exponent_) : format_exact(number);
}

std::string QuantityFormat::deviation(double standard_deviation) const {
  if (std::isinf(standard_deviation)) return "inf";
  if (!(standard_deviation > 0.0)) return "-";
  const double mantissa = standard_deviation / std::pow(10.0, exponent_);
  const bool suits = has_exponent_ && mantissa >= 1e-9 && mantissa < kPlainEnd;
  if (!suits) return format_number(standard_deviation, 2);
  return fixed(mantissa, decimals_of(standard_deviation, exponent_)) + exponent_text(exponent_);
}

}  // namespace notation
