#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace estimator {

struct CalibrationOptions;

/// Range of a numeric option. The default of an option may be outside; it then means "automatic".
struct OptionRange {
  double min = 0.0;
  double max = std::numeric_limits<double>::infinity();
};
inline constexpr OptionRange kPositive = {std::numeric_limits<double>::min()};

/// Words of an option that is an enumeration, in the order of its enumerators.
struct OptionWords {
  std::span<const std::string_view> words;
  int (*get)(const CalibrationOptions&);  ///< index of the word; −1 if the option is unset
  void (*set)(CalibrationOptions&, int index);
};

/// Section of the help that lists an option.
enum class OptionGroup { kGeneral, kMethod, kSimulator };

/// Name, member and values of an option: command line, messages, Python, reports and reference
/// pages are made from it.
struct OptionRow {
  /// Name on the command line, without "--". A flag switches its member to the opposite of the
  /// default. Python uses underscores and omits "no-".
  std::string_view name;
  std::string_view key;  ///< name in JSON and in messages
  std::variant<double CalibrationOptions::*, int CalibrationOptions::*, bool CalibrationOptions::*,
               OptionWords>
      member;
  std::string_view unit = "";
  OptionRange range = {};
  OptionGroup group = OptionGroup::kGeneral;

  bool is_flag() const { return std::holds_alternative<bool CalibrationOptions::*>(member); }
  bool is_word() const { return std::holds_alternative<OptionWords>(member); }
};

/// Returns the value of an option with all digits: "10", "implicit", "true"; empty if it is unset.
std::string option_text(const OptionRow& row, const CalibrationOptions& options);

/// Sets an option. Returns false, without a change, if the text is not a value in its range.
bool set_option(const OptionRow& row, std::string_view text, CalibrationOptions& options);

/// Return whether an option has its default value, and whether a user could give its value.
bool is_default(const OptionRow& row, const CalibrationOptions& options);
bool is_in_range(const OptionRow& row, const CalibrationOptions& options);

/// Returns the values of an option for messages: "a number > 0 [Hz]", "explicit or implicit".
std::string describe_values(const OptionRow& row);

}  // namespace estimator
