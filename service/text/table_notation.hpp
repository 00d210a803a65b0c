#pragma once

#include <string>
#include <vector>

namespace service {

/// Quantity in a table. Its standard deviation is NaN if unknown, and 0 for an exact value.
struct TableQuantity {
  double value;
  double standard_deviation;
  std::string unit;
};

/// Notation of a quantity in a table. Numbers have no exponents; a power of ten is part of the
/// unit, e.g. value "4.4029" and standard deviation "0.0039" with the unit "10⁻³ kg·m²".
class TableNotation {
 public:
  TableNotation(const TableQuantity& quantity, int exponent);

  std::string value() const { return rounded_text(quantity_.value); }
  std::string deviation_text() const { return deviation_text(quantity_.standard_deviation); }
  /// Returns the notation of another value of the quantity, with the same power of ten.
  TableNotation with(double value, double standard_deviation) const {
    return {{value, standard_deviation, quantity_.unit}, exponent_};
  }
  /// Returns the power of ten and the unit, e.g. "10⁻³ kg·m²".
  std::string unit() const;

  /// Returns a number in the power of ten of unit().
  double in_unit(double number) const;

  /// Returns a number rounded to the second significant digit of the standard deviation, or to five
  /// digits if the standard deviation is unknown.
  std::string rounded_text(double number) const;
  /// Returns a number with `digits` significant digits, without trailing zeros.
  std::string number_text(double number, int digits = 4) const;
  /// Returns a standard deviation with two significant digits; "-" if it is unknown or zero.
  std::string deviation_text(double standard_deviation) const;
  /// Returns an interval "low … high" with as many decimals as the value of the quantity.
  std::string interval_text(double low, double high) const;

 private:
  TableQuantity quantity_;
  int exponent_;
  int decimals_ = -1;  // of the value; -1: unknown
};

/// Returns notations for the quantities in a table. Quantities with the same unit share a power of
/// ten unless they differ by many orders of magnitude.
std::vector<TableNotation> make_table_notations(const std::vector<TableQuantity>& quantities);

/// Formats a number with `digits` significant digits, including trailing zeros.
std::string format_significant_digits(double value, int digits);

/// Formats a percentage without exponent, with `digits` significant digits and at most four
/// decimals, e.g. "12 %", "0.17 %" or "<0.0001 %".
std::string format_percent(double percent, int digits = 2);

/// Returns a power of ten as text: "10⁻³" for -3, "1" for 0 and "10" for 1.
std::string format_power_of_ten(int exponent);

/// Aligns the decimal points of the numbers in a right-aligned column by padding their ends. Cells
/// that do not begin with a number are unchanged.
/// @param digit, point  padding of the width of a digit and of a decimal point
void align_decimal_points(std::vector<std::string*>& cells, const std::string& digit,
                          const std::string& point);

}  // namespace service
