#include "service/text/table_notation.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "proto/notation/number_format.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr int kValueDigits = 5;           // of a value with unknown deviation
constexpr double kPlainSizeMin = 0.01;    // smallest largest number of a unit without power of ten
constexpr double kPlainNumberMin = 1e-4;  // smallest number besides the value without exponent
constexpr int kDecimalsMax = 6;           // more have to be counted
constexpr double kDeviationMin = 1e-12;   // relative to the value

bool has_deviation(const TableQuantity& quantity) {
  const double sd = quantity.standard_deviation;
  return std::isfinite(quantity.value) && std::isfinite(sd) && sd > 0.0 &&
         sd >= kDeviationMin * std::abs(quantity.value);
}

double size_of(const TableQuantity& quantity) {
  const double size = std::isfinite(quantity.value) ? std::abs(quantity.value) : 0.0;
  return has_deviation(quantity) ? std::max(size, quantity.standard_deviation) : size;
}

double scaled(double number, int exponent) { return number / std::pow(10.0, exponent); }

int decimals_at(double size, int digits) {
  return std::max(0, digits - 1 - notation::leading_exponent(size, digits));
}

/// Returns the number of decimals that a quantity needs with this power of ten.
int decimals_of(const TableQuantity& quantity, int exponent) {
  if (has_deviation(quantity)) return decimals_at(scaled(quantity.standard_deviation, exponent), 2);
  const double size = scaled(size_of(quantity), exponent);
  return size > 0.0 ? decimals_at(size, 2) : 0;
}

bool suits(const TableQuantity& quantity, int exponent) {
  return size_of(quantity) == 0.0 || decimals_of(quantity, exponent) <= kDecimalsMax;
}

bool begins_with_digit(const std::string& text) {
  const std::size_t first = text.find_first_not_of("+-<");
  return first != std::string::npos && text[first] >= '0' && text[first] <= '9';
}

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int k = 0; k < count; ++k) all += text;
  return all;
}

}  // namespace

TableNotation::TableNotation(const TableQuantity& quantity, int exponent)
    : quantity_(quantity), exponent_(exponent) {
  if (has_deviation(quantity)) decimals_ = decimals_of(quantity, exponent);
}

std::string TableNotation::unit() const {
  if (exponent_ == 0) return quantity_.unit;
  const std::string power = format_power_of_ten(exponent_);
  const bool has_unit = !quantity_.unit.empty() && quantity_.unit != "1" && quantity_.unit != "-";
  return has_unit ? power + " " + quantity_.unit : power;
}

double TableNotation::in_unit(double number) const { return scaled(number, exponent_); }

std::string TableNotation::rounded_text(double number) const {
  if (decimals_ < 0 || !std::isfinite(number)) return this->number_text(number, kValueDigits);
  const std::string text = notation::fixed(scaled(number, exponent_), decimals_);
  return notation::is_zero_text(text) ? "0" : text;
}

std::string TableNotation::number_text(double number, int digits) const {
  const double mantissa = scaled(number, exponent_);
  const double size = std::abs(mantissa);
  if (!(size >= kPlainNumberMin && size < notation::kPlainEnd)) {
    return format_number(mantissa, digits);
  }
  std::string text = notation::fixed(mantissa, decimals_at(size, digits));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string TableNotation::deviation_text(double standard_deviation) const {
  if (!(standard_deviation > 0.0) || std::isinf(standard_deviation)) return "-";
  const double mantissa = scaled(standard_deviation, exponent_);
  return notation::fixed(mantissa, std::min(decimals_at(mantissa, 2), 2 * kDecimalsMax));
}

std::string TableNotation::interval_text(double low, double high) const {
  return rounded_text(low) + " … " + rounded_text(high);
}

std::vector<TableNotation> make_table_notations(const std::vector<TableQuantity>& quantities) {
  struct Group {
    double size = 0.0;     // of the largest number
    bool is_plain = true;  // no number needs a power of ten
  };
  std::map<std::string, Group> groups;  // by unit
  for (const TableQuantity& quantity : quantities) {
    Group& group = groups[quantity.unit];
    group.size = std::max(group.size, size_of(quantity));
    group.is_plain &= suits(quantity, 0);
  }
  std::vector<TableNotation> notations;
  for (const TableQuantity& quantity : quantities) {
    const Group& group = groups[quantity.unit];
    const bool is_plain = group.size == 0.0 || (group.is_plain && group.size >= kPlainSizeMin &&
                                                group.size < notation::kPlainEnd);
    int exponent = is_plain ? 0 : notation::engineering_exponent(group.size);
    if (!suits(quantity, exponent)) exponent = notation::engineering_exponent(size_of(quantity));
    notations.emplace_back(quantity, exponent);
  }
  return notations;
}

std::string format_significant_digits(double value, int digits) {
  const double size = std::abs(value);
  const bool is_plain = size >= std::pow(10.0, -kDecimalsMax) && size < notation::kPlainEnd;
  return is_plain ? notation::fixed(value, decimals_at(size, digits))
                  : format_number(value, digits);
}

std::string format_percent(double percent, int digits) {
  constexpr int kDecimals = 4;
  const double size = std::abs(percent);
  if (!std::isfinite(percent)) return format_number(percent) + " %";
  if (size < std::pow(10.0, -kDecimals)) return percent == 0.0 ? "0 %" : "<0.0001 %";
  return notation::fixed(percent, std::min(kDecimals, decimals_at(size, digits))) + " %";
}

std::string format_power_of_ten(int exponent) {
  if (exponent == 0) return "1";
  if (exponent == 1) return "10";
  static constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) text += kDigits[digit - '0'];
  return text;
}

void align_decimal_points(std::vector<std::string*>& cells, const std::string& digit,
                          const std::string& point) {
  struct Parts {
    std::string whole, decimals, rest;
  };
  std::vector<Parts> split;
  int decimals = 0, rest = 0;
  for (const std::string* cell : cells) {
    Parts parts{*cell, "", ""};
    if (begins_with_digit(*cell)) {
      const std::size_t end = std::min(cell->find(' '), cell->size());
      const std::size_t at = std::min(cell->find_first_not_of("+-<0123456789"), end);
      parts = {cell->substr(0, at), cell->substr(at, end - at), cell->substr(end)};
      decimals = std::max(decimals, display_width(parts.decimals));
      rest = std::max(rest, display_width(parts.rest));
    }
    split.push_back(std::move(parts));
  }
  for (std::size_t k = 0; k < cells.size(); ++k) {
    Parts& parts = split[k];
    if (begins_with_digit(parts.whole)) {
      if (parts.decimals.empty() && decimals > 0) parts.decimals = point;
      parts.decimals += repeated(digit, decimals - display_width(parts.decimals));
      parts.rest += repeated(digit, rest - display_width(parts.rest));
    }
    *cells[k] = parts.whole + parts.decimals + parts.rest;
  }
}

}  // namespace service
