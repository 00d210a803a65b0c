#include "service/recordings/command_unit.hpp"

#include <algorithm>
#include <cmath>

#include "proto/text/input_error.hpp"
#include "service/text/name_words.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

struct UnitRow {
  const char *text, *unit;
  double scale;
};

constexpr UnitRow kUnits[] = {
    {"V", "V", 1.0},       {"mV", "V", 1e-3},     {"A", "A", 1.0},       {"mA", "A", 1e-3},
    {"Nm", "N·m", 1.0},    {"N·m", "N·m", 1.0},   {"N*m", "N·m", 1.0},   {"N m", "N·m", 1.0},
    {"mNm", "N·m", 1e-3},  {"mN·m", "N·m", 1e-3}, {"mN*m", "N·m", 1e-3}, {"Ncm", "N·m", 1e-2},
    {"N·cm", "N·m", 1e-2}, {"N*cm", "N·m", 1e-2}, {"N", "N", 1.0},       {"mN", "N", 1e-3},
    {"kN", "N", 1e3},      {"duty", "duty", 1.0}, {"%", "duty", 1e-2}};

const UnitRow* find_row(std::string_view text) {
  const auto row = std::ranges::find(kUnits, text, &UnitRow::text);
  return row == std::end(kUnits) ? nullptr : row;
}

bool has_word(const std::vector<std::string>& words, std::initializer_list<const char*> wanted) {
  return std::ranges::any_of(wanted,
                             [&](const char* word) { return std::ranges::count(words, word) > 0; });
}

/// Returns the unit that a column's name certainly states: at its end, or by the words "duty" and
/// "pwm" without the name of another quantity.
std::optional<CommandUnit> find_certain_unit(const std::string& label) {
  const auto at_end = find_command_unit(label);
  if (at_end) return at_end->is_certain ? at_end : std::nullopt;
  const std::vector<std::string> words = split_into_words(label);
  const bool is_duty = has_word(words, {"duty", "dutycycle", "pwm"}) &&
                       !has_word(words, {"v", "volt", "volts", "voltage", "a", "amp", "amps",
                                         "ampere", "current", "torque", "tau", "force"});
  return is_duty ? std::optional(CommandUnit{"duty"}) : std::nullopt;
}

}  // namespace

std::optional<CommandUnit> find_command_unit(const std::string& name) {
  std::string text;
  for (const auto& [open, close] : {std::pair('[', ']'), {'(', ')'}}) {
    if (text.empty()) text = text_in_brackets(name, open, close);
  }
  const bool has_brackets = !text.empty();
  if (!has_brackets) text = name.substr(name.find_last_of("_. /,") + 1);
  if (const UnitRow* const row = find_row(text)) {
    return CommandUnit{row->unit, row->scale, has_brackets || (text != "A" && text != "N")};
  }
  return has_brackets && name.ends_with(']') ? std::optional(CommandUnit{text}) : std::nullopt;
}

std::string describe_unit_contradiction(const std::string& stated, const std::string& joint,
                                        const std::string& rig_unit) {
  const UnitRow *const own = find_row(stated), *const wanted = find_row(rig_unit);
  if (own == nullptr || wanted == nullptr ||
      (std::string_view(own->unit) == wanted->unit && own->scale == wanted->scale)) {
    return "";
  }
  return "the commands are in " + stated + ", but the motor of joint \"" + joint +
         "\" has control_unit: \"" + rig_unit + "\"";
}

void check_command_unit(const ControlColumn& control, const std::string& label,
                        const std::string& where) {
  const UnitRow* const wanted = find_row(control.unit);
  const auto stated = find_certain_unit(label);
  if (control.has_scale || !stated || wanted == nullptr) return;
  const bool is_same = stated->unit == wanted->unit;
  if (is_same && stated->scale == wanted->scale) return;
  const std::string remedy =
      is_same ? "scale: " + format_number(stated->scale / wanted->scale)
              : "scale: ... in the column's control { } [" + control.unit + " per unit of the " +
                    "column]" + (stated->unit == "duty" ? ", such as the supply voltage" : "");
  throw proto::InputError(where + ": column \"" + label +
                          "\" is in another unit than the motor of joint \"" + control.joint +
                          "\", which has control_unit: \"" + control.unit + "\". Write " + remedy +
                          (is_same ? " in the column's control { }" : ", or correct control_unit") +
                          "; scale: 1 if the name of the column is wrong");
}

std::string describe_doubtful_commands(const ControlColumn& control, const std::string& label,
                                       const std::vector<double>& values) {
  constexpr double kDutyMax = 1.0;
  constexpr double kRangeMin = 5.0;  // [unit of the motor]; below, commands up to 1 are usual
  const UnitRow* const wanted = find_row(control.unit);
  if (control.has_scale || control.is_prescribed || wanted == nullptr ||
      std::string_view(wanted->unit) == "duty" || find_certain_unit(label) ||
      !(control.largest >= kRangeMin)) {
    return "";
  }
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));  // without NaN
  if (!(largest > 0.0 && largest <= kDutyMax)) return "";
  return "column \"" + control.column + "\": all commands are between -" + format_number(largest) +
         " and " + format_number(largest) + ", but the motor of joint \"" + control.joint +
         "\" takes up to " + format_number(control.largest) + " " + control.unit +
         ". If they are a duty, write scale: ... in the column's control { } [" + control.unit +
         " per unit of the column]; if they are in " + control.unit + ", write scale: 1";
}

}  // namespace service
