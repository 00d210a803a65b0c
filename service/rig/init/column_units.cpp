#include "service/rig/init/column_units.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numbers>
#include <ranges>
#include <utility>

#include "proto/text/input_error.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;  // [rad]
constexpr double kDay = 86'400.0;                 // [s]
// Plausible sampling rates [Hz].
constexpr double kFastest = 2e4, kSlowest = 5.0;

/// Unit of a column of readings. `words` are those in the names of columns, with blanks around.
struct ReadingUnitRow {
  const char *name, *field;
  double size;  ///< [rad or m]; 0: counts
  bool is_length;
  const char* words;
};

constexpr ReadingUnitRow kReadingUnits[] = {
    // by ReadingUnit
    {"rad", "RADIAN", 1.0, false, " rad radian radians "},
    {"deg", "DEGREE", kTurn / 360.0, false, " deg degree degrees "},
    {"turn", "TURN", kTurn, false, " turn turns rev revs revolution revolutions "},
    {"count", "COUNT", 0.0, false, " count counts cnt tick ticks inc enc encoder "},
    {"m", "METER", 1.0, true, " m meter meters metre metres "},
    {"mm", "MILLIMETER", 1e-3, true, " mm millimeter millimetre "},
    {"mrad", "", 1e-3, false, " mrad "},
    {"gon", "", kTurn / 400.0, false, " gon "},
    {"arcmin", "", kTurn / 21'600.0, false, " arcmin "},
    {"cm", "", 1e-2, true, " cm centimeter centimetre "},
    {"in", "", 0.0254, true, " inch inches "},
    {"um", "", 1e-6, true, " um micron microns "}};

/// Unit of a column of times.
struct TimeUnitRow {
  const char *name, *field;
  double size;  ///< [s]
  const char* words;
};

constexpr TimeUnitRow kTimeUnits[] = {
    {"s", "SECOND", 1.0, " s sec secs second seconds "},
    {"ms", "MILLISECOND", 1e-3, " ms msec millis millisecond milliseconds "},
    {"us", "MICROSECOND", 1e-6, " us usec micros microsecond microseconds "},
    {"ns", "NANOSECOND", 1e-9, " ns nsec nanosec nanos nanosecond nanoseconds "},
    {"min", "", 60.0, " min mins minute minutes "},
    {"h", "", 3600.0, " h hour hours "},
    {"d", "", kDay, " day days "},
    {"100ns", "", 1e-7, ""}};

/// System in which time stamps count from an epoch, with their values for the years 2001 and 2099.
struct DateSystem {
  const char* unit;
  double low, high;
};

constexpr DateSystem kDateSystems[] = {
    {"s", 9.78e8, 6.19e9},        // Unix; LabVIEW and Mac OS count from 1904
    {"ms", 9.78e11, 4.08e12},     // Unix
    {"us", 9.78e14, 4.08e15},     // Unix
    {"ns", 9.78e17, 4.08e18},     // Unix
    {"100ns", 1.26e17, 1.58e17},  // Windows, from 1601
    {"100ns", 6.31e17, 6.63e17},  // .NET, from the year 1
    {"d", 36'892, 73'051},        // Excel, from 1899-12-30
    {"d", 730'852, 767'011}};     // MATLAB, from the year 0

TimeUnit unit_of(const TimeUnitRow& row) { return {row.name, row.field, row.size}; }

TimeUnit time_unit_named(std::string_view name) {
  return unit_of(*std::ranges::find(kTimeUnits, name, &TimeUnitRow::name));
}

bool has_word(const char* words, const std::string& word) {
  return !word.empty() && std::string_view(words).find(" " + word + " ") != std::string_view::npos;
}

bool plausible(double step, double unit_size) {
  return step * unit_size <= 1.0 / kSlowest && step * unit_size >= 1.0 / kFastest;
}

[[noreturn]] void refuse_unit(const std::string& text, const std::string& what,
                              const std::string& units) {
  throw proto::InputError("\"" + text + "\" is not a valid " + what + ". Use one of " + units);
}

}  // namespace

ReadingUnit parse_reading_unit(const std::string& text) {
  const auto row = std::ranges::find_if(
      kReadingUnits, [&](const ReadingUnitRow& each) { return text == each.name; });
  if (row == std::end(kReadingUnits)) {
    refuse_unit(text, "unit of a reading", join_items(kReadingUnits, &ReadingUnitRow::name));
  }
  return static_cast<ReadingUnit>(row - std::begin(kReadingUnits));
}

const char* reading_unit_name(ReadingUnit unit) {
  return kReadingUnits[static_cast<std::size_t>(unit)].name;
}

std::string reading_unit_field(ReadingUnit unit) {
  const ReadingUnitRow& row = kReadingUnits[static_cast<std::size_t>(unit)];
  if (*row.field != '\0') return std::string("unit: ") + row.field;
  return (row.is_length ? "unit_m: " : "unit_rad: ") + format_number(row.size, 16);
}

bool is_length_unit(ReadingUnit unit) {
  return kReadingUnits[static_cast<std::size_t>(unit)].is_length;
}

double reading_unit_size(ReadingUnit unit, double counts) {
  if (unit == ReadingUnit::kCount) return counts > 0.0 ? kTurn / counts : 0.0;
  return kReadingUnits[static_cast<std::size_t>(unit)].size;
}

TimeUnit parse_time_unit(const std::string& text) {
  const auto row =
      std::ranges::find_if(kTimeUnits, [&](const TimeUnitRow& each) { return text == each.name; });
  if (row != std::end(kTimeUnits)) return unit_of(*row);
  double size = 0.0;
  const char* const end = text.data() + text.size();
  const auto [parsed, fault] = std::from_chars(text.data(), end, size);
  if (fault != std::errc() || parsed != end || !(size > 0.0) || !std::isfinite(size)) {
    refuse_unit(text, "unit of time, nor a length in seconds",
                join_items(kTimeUnits, &TimeUnitRow::name));
  }
  return {text + " s", "", size};
}

std::string time_unit_field(const TimeUnit& unit) {
  return unit.field.empty() ? "unit_s: " + format_number(unit.size, 16) : "unit: " + unit.field;
}

std::optional<ReadingUnit> find_reading_unit(const std::string& name) {
  for (const auto& [open, close] : {std::pair('[', ']'), {'(', ')'}}) {
    const std::string text(text_in_brackets(name, open, close));
    // A word such as "in" is a unit in brackets only.
    for (std::size_t k = 0; k < std::size(kReadingUnits); ++k) {
      if (text == kReadingUnits[k].name) return static_cast<ReadingUnit>(k);
    }
  }
  const ReadingUnitRow* found = nullptr;
  for (const std::string& word : split_into_words(name)) {
    for (const ReadingUnitRow& row : kReadingUnits) {
      // "encoder" is weaker than a unit.
      const bool is_better = found == nullptr || found->size == 0.0 || row.size > 0.0;
      if (is_better && has_word(row.words, word)) found = &row;
    }
  }
  if (found == nullptr) return std::nullopt;
  return static_cast<ReadingUnit>(found - std::begin(kReadingUnits));
}

std::optional<TimeUnit> find_time_unit(const std::string& name) {
  for (const std::string& word : split_into_words(name) | std::views::reverse) {
    for (const TimeUnitRow& row : kTimeUnits) {
      if (has_word(row.words, word)) return unit_of(row);
    }
  }
  return std::nullopt;
}

std::optional<TimeUnit> find_date_unit(double first, double step) {
  for (const DateSystem& system : kDateSystems) {
    const TimeUnit unit = time_unit_named(system.unit);
    const bool is_date = first >= system.low && first <= system.high;
    if (is_date && plausible(step, unit.size)) return unit;
  }
  return std::nullopt;
}

TimeUnit find_plausible_time_unit(double step) {
  for (const char* name : {"s", "ms", "us", "ns"}) {
    const TimeUnit unit = time_unit_named(name);
    if (plausible(step, unit.size)) return unit;
  }
  return {};
}

std::string describe_unknown_unit(const std::string& name, const std::string& option) {
  const std::vector<std::string> words = split_into_words(name);
  if (std::ranges::count(words, "grad") > 0) {
    return "column \"" + name + "\": \"grad\" can mean degrees or gon (400 per turn). Give " +
           option + " deg or " + option + " gon";
  }
  const std::string unit(text_in_brackets(name, '[', ']'));
  const bool has_letter = std::ranges::any_of(unit, [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0;
  });
  if (!has_letter || find_reading_unit(name) || find_time_unit(name)) return "";
  return "column \"" + name + "\" is in \"" + unit + "\", a unit that rigcal does not know. Give " +
         option;
}

}  // namespace service
