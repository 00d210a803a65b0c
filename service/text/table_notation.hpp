#pragma once

#include <string>
#include <vector>

namespace service {

/// TableQuantity in a table. A standard deviation that is unknown is NaN, of an exact value it is
/// 0.
struct TableQuantity {
  double value;
  double standard_deviation;
  std::string unit;
};

/// Notation of a quantity in a table: numbers without exponents, as multiples of a power of ten
/// that the table prints with the unit, e.g. "4.4029", "0.0039" and "10⁻³ kg·m²".
class TableNotation {
 public:
  TableNotation(const TableQuantity& quantity, int exponent);

  std::string value() const { return rounded(quantity_.value); }
  std::string deviation() const { return deviation(quantity_.standard_deviation); }
  /// Returns the notation of another estimate of the quantity, with the same power of ten.
  TableNotation with(double value, double standard_deviation) const {
    return {{value, standard_deviation, quantity_.unit}, exponent_};
  }
  /// Returns the power of ten and the unit.
  std::string unit() const;

  /// Returns a number rounded to the second significant digit of the standard deviation, or to five
  /// digits if that is unknown.
  std::string rounded(double number) const;
  /// Returns a number with `digits` significant digits, without trailing zeros.
  std::string number(double number, int digits = 4) const;
  /// Returns another standard deviation of the quantity with two digits, or "-" without one.
  std::string deviation(double standard_deviation) const;
  /// Returns the interval "low … high" with the decimals of the value.
  std::string interval(double low, double high) const;

 private:
  TableQuantity quantity_;
  int exponent_;
  int decimals_ = -1;  // of the value; -1: unknown
};

/// Returns the notations of the quantities in one table. Quantities with the same unit share a
/// power of ten unless they differ by many orders of magnitude.
std::vector<TableNotation> table_notations(const std::vector<TableQuantity>& quantities);

/// Formats a number with `digits` significant digits, including trailing zeros, so that all numbers
/// of a column have them.
std::string format_digits(double value, int digits);

/// Formats a percentage with `digits` significant digits and at most four decimals, never with an
/// exponent: "12 %", "0.17 %", "<0.0001 %".
std::string format_percent(double percent, int digits = 2);

/// Returns "10⁻³" for -3, "1" for 0 and "10" for 1.
std::string decade_text(int exponent);

/// Pads the ends of the numbers in a right-aligned column so that their decimal points are aligned.
/// Cells that do not begin with a number are unchanged.
/// @param digit, point  padding of the width of a digit and of a decimal point
void align_numbers(std::vector<std::string*>& cells, const std::string& digit,
                   const std::string& point);

}  // namespace service
