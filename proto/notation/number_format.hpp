#pragma once

#include <string>

namespace notation {

// Numbers for people, in messages, tables, pages, pictures and files. One is plain from 0.001 to
// 99 999 where six decimals are enough for it, and has an exponent that is a multiple of 3
// otherwise, so that it reads as milli, micro, mega of its unit: "0.0044", "1.27358e-3",
// "115.9e-6", "1.23e6". Numbers that belong together share one exponent.

/// So many significant digits, without trailing zeros, and all of a number's whole digits. "inf",
/// "-inf", "-" for NaN.
std::string format_number(double value, int digits = 4);

/// The same with its sign: "+1.5", "-1.5", "0".
std::string format_signed(double value, int digits = 4);

/// The fewest digits that read as the same number again, plain from 0.001 to 99 999.
std::string format_exact(double value);

/// The ends of a range with the exponent of the larger: "950e-6 … 1033e-6".
std::string format_range(double low, double high, int digits = 4);

/// A value with its standard deviation.
struct Measured {
  std::string value;               ///< e.g. "3.9601e-3", "396.01e-6"
  std::string standard_deviation;  ///< e.g. "0.0023e-3", "0.23e-6": same decimals and exponent
};

/// Rounds both to the second significant digit of the standard deviation, with the exponent of the
/// larger. An infinite standard deviation is "inf", an unknown one (NaN, or 0 of an exact value)
/// "-". A deviation below a trillionth of its value stands for itself.
Measured format_measured(double value, double standard_deviation);

/// Both of them: "396.01e-6 ± 0.23e-6".
std::string format_with_deviation(double value, double standard_deviation);

/// How one measured quantity is written wherever it stands: with the exponent and the decimals that
/// `format_measured` gives its value and standard deviation.
class Notation {
 public:
  Notation(double value, double standard_deviation);

  /// Rounded as the value is; to five digits where there is no deviation to tell.
  std::string rounded(double number) const;

  /// So many significant digits. A number that the exponent does not suit has its own.
  std::string number(double number, int digits = 4) const;

  /// The fewest digits that read as the same number again, likewise.
  std::string exact(double number) const;

  /// Another standard deviation of the quantity: two digits, "inf", "-".
  std::string deviation(double standard_deviation) const;

 private:
  bool suits(double number) const;

  bool known_ = false;  // whether there is a deviation that tells where to round
  bool chosen_ = true;  // whether there is anything that chooses an exponent
  int exponent_ = 0;
  int decimals_ = 0;
};

}  // namespace notation
