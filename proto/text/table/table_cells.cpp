#include "proto/text/table/table_cells.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>

namespace proto {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr double kSecondsPerDay = 86400.0;

/// Returns the position after quotes that open at `begin` and close before a delimiter or the end
/// of the line; npos if they never close.
std::size_t end_of_quotes(std::string_view line, std::size_t begin, char delimiter) {
  for (std::size_t end = begin + 1; (end = line.find('"', end)) != std::string_view::npos; ++end) {
    const std::size_t after = std::min(line.find_first_not_of(" \r", end + 1), line.size());
    if (after == line.size() || line[after] == delimiter) return after;
    if (delimiter == ' ' && kBlanks.find(line[end + 1]) != std::string_view::npos) return end + 1;
    if (line[end + 1] == '"') ++end;
  }
  return std::string_view::npos;
}

void split_at_blanks(std::string_view line, std::vector<std::string_view>& cells) {
  bool quotes = true;  // until one never closes
  for (line = trim_blanks(line); !line.empty() && cells.size() <= kTableColumnsMax;
       line = trim_blanks(line)) {
    std::size_t end = std::string_view::npos;
    if (quotes && line.front() == '"') {
      end = end_of_quotes(line, 0, ' ');
      quotes = end != std::string_view::npos;
    }
    if (end == std::string_view::npos) end = std::min(line.find_first_of(kBlanks), line.size());
    cells.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

/// Returns whether a cell has no reading: it is empty, or other programs write it for none.
bool is_missing_cell(std::string_view cell) {
  if (cell.empty()) return true;
  if (std::isdigit(static_cast<unsigned char>(cell.back())) != 0) return false;  // most cells
  constexpr std::array<std::string_view, 12> kMissing = {
      "nan", "-nan", "+nan", "na", "n/a", "#n/a", "<na>", "null", "none", "-", "--", "?"};
  const auto equals = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  };
  return std::ranges::any_of(
      kMissing, [&](std::string_view word) { return std::ranges::equal(cell, word, equals); });
}

/// Returns a number with a decimal point; nullopt if it is not a finite number.
std::optional<double> parse_decimal(std::string_view cell) {
  if (!cell.empty() && cell.front() == '+') cell.remove_prefix(1);
  double value = 0.0;
  const auto result = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (result.ptr != cell.data() + cell.size()) return std::nullopt;
  // Too small for a double: zero, as in other readers.
  if (result.ec == std::errc::result_out_of_range &&
      (cell.find("e-") != cell.npos || cell.find("E-") != cell.npos)) {
    return 0.0;
  }
  if (result.ec != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// Returns a number with a decimal comma; nullopt if it is not one.
std::optional<double> parse_decimal_comma(std::string_view cell) {
  const std::size_t comma = cell.find(',');
  if (comma == std::string_view::npos || comma + 1 == cell.size() ||
      std::isdigit(static_cast<unsigned char>(cell[comma + 1])) == 0 ||
      cell.find_first_of(",.", comma + 1) != std::string_view::npos ||
      cell.find('.') != std::string_view::npos) {
    return std::nullopt;
  }
  std::string text(cell);
  text[comma] = '.';
  return parse_decimal(text);
}

/// Returns the length of a separator of digit groups at the start of a text, such as an apostrophe
/// or a narrow space; 0 if there is none.
std::size_t group_separator_size(std::string_view text) {
  constexpr std::string_view kSeparators[] = {"'",      "_",      "\u2019", "\u00A0",
                                              "\u202F", "\u2009", ".",      ","};
  for (const std::string_view separator : kSeparators) {
    if (text.starts_with(separator)) return separator.size();
  }
  return 0;
}

/// Returns a number without the separators between groups of three digits, as in "1'234.5" or
/// "1.234,5", with the mark of its decimals; nullopt if it has none, or if they are ambiguous.
std::optional<std::string> remove_group_separators(std::string_view cell) {
  const auto digits = [](std::string_view text) {
    return std::min(text.find_first_not_of("0123456789"), text.size());
  };
  const std::size_t sign = cell.starts_with('-') || cell.starts_with('+') ? 1 : 0;
  const std::size_t first = digits(cell.substr(sign));
  if (first < 1 || first > 3) return std::nullopt;
  std::string number(cell.substr(0, sign + first));
  std::string_view rest = cell.substr(sign + first);
  const std::string_view separator = rest.substr(0, group_separator_size(rest));
  int groups = 0;
  while (!separator.empty() && rest.starts_with(separator) &&
         digits(rest.substr(separator.size())) == 3) {
    number += rest.substr(separator.size(), 3);
    rest.remove_prefix(separator.size() + 3);
    ++groups;
  }
  const bool is_mark = separator == "." || separator == ",";
  const bool has_decimals = rest.starts_with('.') || rest.starts_with(',');
  const bool is_clear = groups > 1 || (groups == 1 && (!is_mark || has_decimals));
  if (!is_clear || (is_mark && rest.starts_with(separator))) return std::nullopt;
  return number + std::string(rest);
}

/// Returns a number in the notations of other programs: with a minus sign of typography, the
/// exponents of Fortran, hexadecimal, or with separators between groups of digits.
std::optional<CellNumber> parse_foreign_number(std::string_view cell) {
  constexpr std::string_view kMinus = "\u2212";
  std::string text(cell);
  if (cell.starts_with(kMinus)) text.replace(0, kMinus.size(), "-");
  if (text.starts_with("0x") || text.starts_with("0X")) {
    std::uint32_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data() + 2, end, value, 16);
    if (error != std::errc() || parsed != end) return std::nullopt;
    return CellNumber{static_cast<double>(value), CellNotation::kWhole};
  }
  if (const auto number = remove_group_separators(text)) text = *number;
  const std::size_t exponent = text.find_first_of("dD");
  if (exponent != std::string::npos) text[exponent] = 'e';
  if (text == cell) return std::nullopt;
  const bool has_point = text.find('.') != std::string::npos;
  if (const auto value = parse_decimal(text)) {
    return CellNumber{*value, has_point ? CellNotation::kDecimalPoint : CellNotation::kWhole};
  }
  const auto value = parse_decimal_comma(text);
  return value ? std::optional(CellNumber{*value, CellNotation::kDecimalComma}) : std::nullopt;
}

/// Reads the parts of a date or a time of day, from left to right.
class TimeScanner {
 public:
  explicit TimeScanner(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }

  bool take(std::string_view any_of) {
    if (rest_.empty() || any_of.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take_word(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  /// Reads a whole number of `least` to `most` digits that is not followed by a further digit.
  bool take_number(std::size_t least, std::size_t most, int& value) {
    const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    if (digits < least || digits > most) return false;
    std::from_chars(rest_.data(), rest_.data() + digits, value);
    rest_.remove_prefix(digits);
    return true;
  }

  /// Reads the English abbreviation of a month.
  bool take_month(int& month) {
    constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const std::size_t at =
        rest_.size() < 3 ? std::string_view::npos : kMonths.find(rest_.substr(0, 3));
    if (at == std::string_view::npos || at % 3 != 0) return false;
    month = static_cast<int>(at / 3) + 1;
    rest_.remove_prefix(3);
    return true;
  }

  /// Reads a fraction of a second after a decimal point or comma, if there is one.
  bool take_fraction(double& value) {
    if (!take(".,")) return true;
    const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    if (digits == 0) return false;
    value = parse_decimal("0." + std::string(rest_.substr(0, digits))).value_or(0.0);
    rest_.remove_prefix(digits);
    return true;
  }

 private:
  std::string_view rest_;
};

/// Returns a date as days since 1970-01-01; nullopt if there is no such date.
std::optional<int> days_since_epoch(int year, int month, int day) {
  const std::chrono::year_month_day date(std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return std::nullopt;
  return static_cast<int>(std::chrono::sys_days(date).time_since_epoch().count());
}

/// Reads "2024-03-05", "2024/03/05", "05.03.2024" or "05-Mar-2024" as days since 1970-01-01.
std::optional<int> take_date(std::string_view text, TimeScanner& scan) {
  int first = 0, month = 0, last = 0;
  const bool year_first = text.find_first_of(".-/") == 4;
  const char* const mark = year_first ? "-/" : text.find('.') == 2 ? "." : "-";
  const std::size_t digits = year_first ? 4 : 2;
  if (!scan.take_number(digits, digits, first) || !scan.take(mark)) return std::nullopt;
  const bool is_number = year_first || *mark == '.';
  if (!(is_number ? scan.take_number(2, 2, month) : scan.take_month(month)) || !scan.take(mark) ||
      !scan.take_number(6 - digits, 6 - digits, last)) {
    return std::nullopt;
  }
  return days_since_epoch(year_first ? first : last, month, year_first ? last : first);
}

/// Returns a time of day [s]; nullopt if there is no such time.
std::optional<double> seconds_of_day(int hour, int minute, double second) {
  if (hour > 23 || minute > 59 || second >= 61.0) return std::nullopt;
  return 3600.0 * hour + 60.0 * minute + second;
}

/// Reads "hh:mm:ss" with a fraction of a second, and "AM" or "PM" if it is there [s].
std::optional<double> take_clock(TimeScanner& scan) {
  int hour = 0, minute = 0, second = 0;
  double fraction = 0.0;
  if (!scan.take_number(1, 2, hour) || !scan.take(":") || !scan.take_number(2, 2, minute) ||
      !scan.take(":") || !scan.take_number(2, 2, second) || !scan.take_fraction(fraction)) {
    return std::nullopt;
  }
  for (const auto& [word, offset] : {std::pair(" AM", 0), {" am", 0}, {" PM", 12}, {" pm", 12}}) {
    if (!scan.take_word(word)) continue;
    if (hour < 1 || hour > 12) return std::nullopt;
    hour = hour % 12 + offset;
    break;
  }
  return seconds_of_day(hour, minute, second + fraction);
}

/// Reads an offset from UTC such as "Z", "+01:00" or "-0330" [s]; 0 if there is none.
std::optional<double> take_offset(TimeScanner& scan) {
  if (scan.at_end() || scan.take("Zz")) return 0.0;
  int hour = 0, minute = 0;
  const bool is_negative = scan.take("-");
  if (!is_negative && !scan.take("+")) return std::nullopt;
  if (scan.take_number(4, 4, hour)) {
    minute = hour % 100;
    hour /= 100;
  } else if (!scan.take_number(2, 2, hour) || (scan.take(":") && !scan.take_number(2, 2, minute))) {
    return std::nullopt;
  }
  return (is_negative ? -1.0 : 1.0) * (3600.0 * hour + 60.0 * minute);
}

/// Reads a number of seconds with its unit, such as "1.315 sec" in timetables of MATLAB.
std::optional<CellNumber> parse_seconds(std::string_view cell) {
  for (const std::string_view unit : {" sec", " s"}) {
    if (!cell.ends_with(unit)) continue;
    const std::string_view digits = cell.substr(0, cell.size() - unit.size());
    std::optional<double> value = parse_decimal(digits);
    if (!value) value = parse_decimal_comma(digits);
    if (value) return CellNumber{*value, CellNotation::kDuration};
  }
  return std::nullopt;
}

/// Reads a duration such as "0 days 00:00:01.315", as pandas writes a Timedelta.
std::optional<CellNumber> parse_days(std::string_view cell) {
  TimeScanner scan(cell);
  int days = 0;
  if (!scan.take_number(1, 5, days) || !scan.take_word(" days ")) return std::nullopt;
  const std::optional<double> clock = take_clock(scan);
  if (!clock || !scan.at_end()) return std::nullopt;
  return CellNumber{kSecondsPerDay * days + *clock, CellNotation::kDuration};
}

/// Reads the basic form of ISO 8601, "20240305T100000.005Z".
std::optional<CellNumber> parse_basic_date(std::string_view cell) {
  TimeScanner scan(cell);
  int date = 0, clock = 0;
  double fraction = 0.0;
  if (!scan.take_number(8, 8, date) || !scan.take("T") || !scan.take_number(6, 6, clock) ||
      !scan.take_fraction(fraction)) {
    return std::nullopt;
  }
  const auto days = days_since_epoch(date / 10000, date / 100 % 100, date % 100);
  const auto time = seconds_of_day(clock / 10000, clock / 100 % 100, clock % 100 + fraction);
  const auto offset = take_offset(scan);
  if (!days || !time || !offset || !scan.at_end()) return std::nullopt;
  return CellNumber{kSecondsPerDay * *days + *time - *offset, CellNotation::kDate};
}

std::optional<CellNumber> parse_time_stamp(std::string_view cell) {
  if (const std::optional<CellNumber> duration = parse_days(cell)) return duration;
  TimeScanner scan(cell);
  const bool has_date = cell.find_first_of("-/.") < cell.find(':') && cell.size() >= 10;
  double start = 0.0;
  if (has_date) {
    const std::optional<int> days = take_date(cell, scan);
    if (!days || !scan.take("T t_")) return std::nullopt;
    start = kSecondsPerDay * *days;
  }
  const std::optional<double> clock = take_clock(scan);
  if (!clock) return std::nullopt;
  const std::optional<double> offset = has_date ? take_offset(scan) : std::optional(0.0);
  if (!offset || !scan.at_end()) return std::nullopt;
  return CellNumber{start + *clock - *offset,
                    has_date ? CellNotation::kDate : CellNotation::kClock};
}

}  // namespace

std::string_view trim_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string_view unquote_cell(std::string_view cell) {
  cell = trim_blanks(cell);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
    cell = trim_blanks(cell.substr(1, cell.size() - 2));
  }
  return cell;
}

void split_cells(std::string_view line, char delimiter, std::vector<std::string_view>& cells) {
  cells.clear();
  if (delimiter == ' ') return split_at_blanks(line, cells);
  std::size_t begin = 0;
  bool quotes = line.find('"') != std::string_view::npos;
  for (std::size_t end = 0; end != std::string_view::npos && cells.size() <= kTableColumnsMax;
       begin = end + 1) {
    end = line.find(delimiter, begin);
    if (quotes) {
      const std::size_t open = line.find_first_not_of(' ', begin);
      if (open != std::string_view::npos && line[open] == '"') {
        const std::size_t behind = end_of_quotes(line, open, delimiter);
        quotes = behind != std::string_view::npos;
        if (quotes) end = behind == line.size() ? std::string_view::npos : behind;
      }
    }
    cells.push_back(line.substr(begin, end - begin));
  }
}

std::optional<CellNumber> parse_cell(std::string_view cell) {
  cell = unquote_cell(cell);
  if (is_missing_cell(cell)) return CellNumber{};
  if (const std::optional<double> value = parse_decimal(cell)) {
    const bool has_point = cell.find('.') != std::string_view::npos;
    return CellNumber{*value, has_point ? CellNotation::kDecimalPoint : CellNotation::kWhole};
  }
  if (cell.find(':') != std::string_view::npos) return parse_time_stamp(cell);
  if (const std::optional<double> value = parse_decimal_comma(cell)) {
    return CellNumber{*value, CellNotation::kDecimalComma};
  }
  if (const std::optional<CellNumber> number = parse_seconds(cell)) return number;
  if (const std::optional<CellNumber> date = parse_basic_date(cell)) return date;
  return parse_foreign_number(cell);
}

std::size_t end_of_receive_time(std::string_view line) {
  constexpr std::string_view kArrow = " ->";
  const std::size_t arrow = line.find(kArrow);
  if (arrow == std::string_view::npos) return std::string_view::npos;
  const std::optional<CellNumber> time = parse_cell(line.substr(0, arrow));
  const bool is_time = time && time->notation == CellNotation::kClock;
  return is_time ? arrow + kArrow.size() : std::string_view::npos;
}

std::string describe_ambiguous_time(std::string_view cell) {
  cell = unquote_cell(cell);
  TimeScanner scan(cell);
  int first = 0, second = 0, third = 0;
  double fraction = 0.0;
  if (!scan.take_number(1, 2, first)) return "";
  const std::string shown = "\"" + std::string(cell.substr(0, 40)) + "\" can mean ";
  if (scan.take(":")) {
    if (!scan.take_number(2, 2, second) || !scan.take_fraction(fraction) || !scan.at_end())
      return "";
    return shown + "hours:minutes or minutes:seconds; write hours:minutes:seconds, or seconds";
  }
  if (!scan.take("/-") || !scan.take_number(1, 2, second) || !scan.take("/-") ||
      !scan.take_number(2, 4, third)) {
    return "";
  }
  return shown + "day " + std::to_string(first) + " of month " + std::to_string(second) +
         " or day " + std::to_string(second) + " of month " + std::to_string(first) +
         "; write dates as year-month-day";
}

}  // namespace proto
