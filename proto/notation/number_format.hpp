#pragma once

#include <string>

namespace notation {

// Helpers for the exponents of numbers, see number_format.

constexpr double kPlainBegin = 1e-3;
constexpr double kPlainEnd = 1e5;

/// Returns whether a number of this magnitude, rounded to `decimals` decimals, is written without
/// an exponent.
bool needs_no_exponent(double size, int decimals);

/// Returns the exponent of a positive number in engineering notation: the largest multiple of 3
/// with a mantissa of at least 1.
int engineering_exponent(double size);

/// Returns the power of ten of the first digit of a positive number that is rounded to `digits`
/// digits.
int leading_exponent(double size, int digits);

/// Returns an exponent as text, such as "e-6"; empty for 0.
std::string exponent_text(int exponent);

/// Returns a number as text, rounded to `decimals` decimals, without exponent.
std::string fixed(double number, int decimals);

/// Parses a number from a text without blanks.
double read(const std::string& text);

/// Returns whether a text represents the number zero, such as "0.00", "-0" or "-0.0".
bool is_zero_text(const std::string& digits);

// Formatting of numbers for users, in messages, tables, pages, figures and files. A number from
// 0.001 to 99 999 that needs at most six decimals has no exponent. Others have one that is a
// multiple of 3, which reads as milli, micro or mega: "0.0044", "1.27358e-3", "115.9e-6", "1.23e6".
// Numbers that belong together share an exponent.

/// Formats a number with `digits` significant digits. Keeps all digits before the decimal point and
/// omits trailing zeros. Infinity is "inf" or "-inf", NaN is "-".
std::string format_number(double value, int digits = 4);

/// Formats a number as format_number does, with a sign: "+1.5", "-1.5", "0".
std::string format_signed(double value, int digits = 4);

/// Formats a number with the fewest digits that parse to the same number, without exponent from
/// 0.001 to 99 999.
std::string format_exact(double value);

/// Formats a range with the exponent of the larger end: "950e-6 … 1033e-6".
std::string format_range(double low, double high, int digits = 4);

/// A value with its standard deviation.
struct MeasuredText {
  std::string value;               ///< e.g. "3.9601e-3", "396.01e-6"
  std::string standard_deviation;  ///< e.g. "0.0023e-3", "0.23e-6": same decimals and exponent
};

/// Formats a value and its standard deviation. Rounds both to the second significant digit of the
/// standard deviation, with the exponent of the larger. An infinite standard deviation is "inf"; an
/// unknown one (NaN), or 0 for an exact value, is "-". A standard deviation below 1e-12 of the
/// value is rounded independently of the value.
MeasuredText format_measured(double value, double standard_deviation);

/// Formats a value with its standard deviation: "396.01e-6 ± 0.23e-6".
std::string format_with_deviation(double value, double standard_deviation);

/// Common format for several numbers that belong to one measured quantity: the exponent and
/// decimals that `format_measured` chooses for the quantity's value and standard deviation.
class QuantityFormat {
 public:
  QuantityFormat(double value, double standard_deviation);

  /// Formats a number with as many decimals as the quantity's value, or with five digits if the
  /// standard deviation is unknown.
  std::string format_rounded(double number) const;

  /// Formats a number with `digits` significant digits and the common exponent. A number for which
  /// this exponent is unsuitable gets its own exponent.
  std::string number(double number, int digits = 4) const;

  /// Formats a number with the fewest digits that parse to the same number, and with the exponent
  /// that number() would use.
  std::string exact(double number) const;

  /// Formats another standard deviation of the quantity: two digits, "inf" or "-".
  std::string deviation(double standard_deviation) const;

 private:
  bool suits(double number) const;

  bool has_deviation_ = false;  // the standard deviation is known and determines the rounding
  bool has_exponent_ = true;    // an exponent was chosen
  int exponent_ = 0;
  int decimals_ = 0;
};

}  // namespace notation
