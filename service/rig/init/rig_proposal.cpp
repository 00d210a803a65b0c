#include "service/rig/init/rig_proposal.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <utility>

#include "proto/text/input_error.hpp"
#include "service/recordings/burst_clock.hpp"
#include "service/recordings/counter_wrap.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

/// Sets the answers about a recording's columns from the user's choice and from the columns.
class Proposer {
 public:
  Proposer(const std::vector<ColumnProfile>& columns, const ColumnChoice& choice,
           RigAnswers& answers)
      : columns_(columns), choice_(choice), answers_(answers) {}

  void propose() {
    if (choice_.no_motor && !(choice_.command.empty() && choice_.command_unit.empty())) {
      throw proto::InputError("--no-motor excludes --command and --command-unit; omit one of them");
    }
    const int chain = static_cast<int>(answers_.links.size());
    names_ = measured_joint_names(answers_.kind, chain);
    claim_choices();
    take_time();
    take_motor();
    take_readings(chain);
    take_segments();
    explain_columns();
  }

 private:
  /// Returns the column with this name; nullptr if there is no recording.
  const ColumnProfile* named(const std::string& name) const {
    const auto found = std::ranges::find(columns_, name, &ColumnProfile::name);
    if (found != columns_.end()) return &*found;
    if (columns_.empty()) return nullptr;
    throw proto::InputError(answers_.source + ": has no column \"" + name + "\"; it has " +
                            list_column_names(columns_));
  }

  /// Returns the column of numbers with this name; nullptr if there is no recording.
  const ColumnProfile* named_numbers(const std::string& name) const {
    const ColumnProfile* const column = named(name);
    if (column == nullptr || !column->values.empty()) return column;
    if (!column->fault.empty()) throw proto::InputError(column->fault);
    throw proto::InputError(answers_.source + ": column \"" + name +
                            "\" contains text, not numbers. Give a column of numbers");
  }

  /// Gives a column its role.
  /// @throws proto::InputError if it has another role already
  void claim(const std::string& name, const std::string& role) {
    if (name.empty()) return;
    const auto column = std::ranges::find(columns_, name, &ColumnProfile::name);
    if (column == columns_.end() || column->role == role) return;
    if (!column->role.empty()) {
      throw proto::InputError("column \"" + name + "\" cannot be both the " + column->role +
                              " and the " + role + ". Give each of them its own column");
    }
    column->role = role;
  }

  /// Gives the columns that the user has chosen their roles, before columns are guessed.
  void claim_choices() {
    claim(choice_.time, "time");
    claim(choice_.command, "command");
    claim(choice_.segment, "segment number");
    claim(choice_.position, "position");
    for (std::size_t k = 0; k < choice_.angles.size(); ++k) {
      claim(choice_.angles[k], angle_role(k + (has_cart(answers_.kind) ? 1 : 0)));
    }
  }

  std::string angle_role(std::size_t reading) const {
    return "angle" + (reading < names_.size() ? " of joint " + names_[reading] : std::string());
  }

  /// Returns what was assumed about a text file as a sentence that follows another one without its
  /// full stop; empty if nothing was assumed.
  std::string layout_sentence() const {
    const std::string& layout = answers_.source_layout;
    return layout.empty() ? "" : ". Layout of the file: " + layout;
  }

  void take_time() {
    if (choice_.rate > 0.0) {
      answers_.rate = choice_.rate;
      return;
    }
    const ColumnProfile* const column =
        choice_.time.empty() ? find_time_column(columns_) : named_numbers(choice_.time);
    if (column == nullptr && choice_.time.empty() && !columns_.empty()) {
      if (const std::string why = describe_missing_time(columns_); !why.empty()) {
        throw proto::InputError("{}: {}{}", answers_.source, why, layout_sentence());
      }
      throw proto::InputError(answers_.source +
                              ": no time column found (columns: " + list_column_names(columns_) +
                              "). Give --time COLUMN, or --rate HZ if there is none" +
                              list_faults() + layout_sentence());
    }
    if (column != nullptr) claim(column->name, "time");
    answers_.time_column = column != nullptr      ? column->name
                           : choice_.time.empty() ? "t_s"
                                                  : choice_.time;
    if (!choice_.time_unit.empty()) {
      answers_.time_unit = parse_time_unit(choice_.time_unit);
    } else if (column != nullptr) {
      answers_.time_unit = guess_time_unit(*column);
    }
    if (column != nullptr) period_ = mean_time_step(column->values) * answers_.time_unit.size;
  }

  std::vector<const ColumnProfile*> found_readings(int chain) const {
    std::vector<const ColumnProfile*> found;
    if (!choice_.angles.empty()) {
      if (has_cart(answers_.kind)) {
        found.push_back(choice_.position.empty()
                            ? find_encoder_columns(columns_, answers_.kind, chain)[0]
                            : named_numbers(choice_.position));
      }
      for (const std::string& name : choice_.angles) found.push_back(named_numbers(name));
      return found;
    }
    found = find_encoder_columns(columns_, answers_.kind, chain);
    if (!choice_.position.empty() && !found.empty()) found[0] = named_numbers(choice_.position);
    return found;
  }

  void take_readings(int chain) {
    const std::vector<const ColumnProfile*> found = found_readings(chain);
    const std::size_t angles = names_.size() - (has_cart(answers_.kind) ? 1 : 0);
    for (const auto& [option, given] : {std::pair("--angle", choice_.angles.size()),
                                        {"--counts", choice_.counts.size()},
                                        {"--zero", choice_.zeros.size()}}) {
      if (given <= angles) continue;
      throw proto::InputError(std::string(option) + ": given " + std::to_string(given) +
                              " times, but a " + rig_kind_name(answers_.kind) + " has " +
                              std::to_string(angles) + (angles == 1 ? " angle" : " angles"));
    }
    std::size_t hanging = 0;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      const ColumnProfile* const column = k < found.size() ? found[k] : nullptr;
      if (column == nullptr && !columns_.empty()) refuse_unread(k);
      if (column != nullptr) {
        claim(column->name, measures_cart_position(answers_.kind, k) ? "position" : angle_role(k));
      }
      answers_.readings.push_back(read(k, column, hanging));
    }
    refuse_unused_inversions();
  }

  [[noreturn]] void refuse_unread(std::size_t k) const {
    throw proto::InputError(
        answers_.source + ": no column found for joint \"" + names_[k] + "\" of a " +
        rig_kind_name(answers_.kind) + " (columns: " + list_column_names(columns_) + "). Give " +
        (measures_cart_position(answers_.kind, k) ? "--position COLUMN"
                                                  : "--angle COLUMN for every joint") +
        list_faults());
  }

  /// Returns why columns cannot be read, for the end of a message; empty if all can.
  std::string list_faults() const {
    std::set<std::string> faults;
    for (const ColumnProfile& column : columns_) {
      if (!column.fault.empty()) faults.insert(column.fault);
    }
    constexpr int kFaultsMax = 10;
    std::string text;
    for (const std::string& fault : faults | std::views::take(kFaultsMax)) {
      text += ". Not readable: " + fault;
    }
    return text;
  }

  EncoderAnswer read(std::size_t k, const ColumnProfile* column, std::size_t& hanging) {
    const bool position = measures_cart_position(answers_.kind, k);
    const std::size_t angle = k - (has_cart(answers_.kind) && k > 0 ? 1 : 0);
    EncoderAnswer reading;
    if (column != nullptr) {
      reading.column = column->name;
    } else if (position) {
      reading.column = choice_.position.empty() ? names_[k] + "_m" : choice_.position;
    } else {
      reading.column =
          angle < choice_.angles.size() ? choice_.angles[angle] : "theta_" + names_[k] + "_rad";
    }
    reading.unit = position ? ReadingUnit::kMetre : ReadingUnit::kRadian;
    const std::string& unit = position ? choice_.position_unit : choice_.angle_unit;
    if (!unit.empty()) {
      reading.unit = parse_reading_unit(unit);
    } else if (column != nullptr) {
      reading.unit = guess_reading_unit(*column, position);
    }
    if (reading.unit != ReadingUnit::kCount && is_length_unit(reading.unit) != position) {
      throw proto::InputError("\"" + unit + "\" is not a unit of " +
                              (position ? "a position" : "an angle"));
    }
    take_counts(position, angle, column, reading);
    ColumnProfile look = column != nullptr ? *column : ColumnProfile{};
    const double turn = position ? 0.0 : turn_in(reading);
    if (reading.unit == ReadingUnit::kCount) {
      const double whole = reading.counts.value_or(0.0);
      const double modulus = CounterJumps(look.values).find_modulus(whole);
      // Angles modulo a turn are unwrapped without a modulus in the rig file.
      if (modulus > 0.0 && (position || modulus != whole)) reading.counts_modulo = modulus;
      if (modulus > 0.0) unwrap_counter(modulus, look.values);
    } else if (turn > 0.0 && look.high - look.low <= turn * (1.0 + 1e-6)) {
      unwrap_counter(turn, look.values);
    }
    reading.allow_missing =
        column != nullptr &&
        std::ranges::any_of(column->values, [](double value) { return std::isnan(value); });
    const auto& inverted = choice_.inverted;
    reading.inverted = std::ranges::find(inverted, reading.column) != inverted.end();
    if (can_joint_hang(answers_.kind, k)) {
      take_rest(hanging++, column != nullptr ? &look : nullptr, reading);
    }
    return reading;
  }

  /// Returns a turn in the unit of a reading; 0 if unknown.
  static double turn_in(const EncoderAnswer& reading) {
    const double size = reading_unit_size(reading.unit, reading.counts.value_or(0.0));
    return size > 0.0 ? 2.0 * M_PI / size : 0.0;
  }

  /// Returns the counts per turn that the user gave for an angle; 0 if unknown.
  double given_counts(std::size_t angle) const {
    const std::vector<double>& counts = choice_.counts;
    return counts.empty() ? 0.0 : counts[std::min(angle, counts.size() - 1)];
  }

  void take_counts(bool position, std::size_t angle, const ColumnProfile* column,
                   EncoderAnswer& reading) const {
    if (position && choice_.counts_per_m > 0.0) {
      reading.counts = choice_.counts_per_m;
    } else if (const double given = given_counts(angle); !position && given > 0.0) {
      reading.counts = given;
    } else if (column != nullptr) {
      reading.counts = guess_encoder_counts(*column, reading.unit);
    }
  }

  void take_rest(std::size_t hanging, const ColumnProfile* column, EncoderAnswer& reading) {
    const bool driven = answers_.motor && answers_.command_max.value_or(0.0) > 0.0;
    if (hanging < choice_.zeros.size()) {
      reading.rest = parse_hanging_reading(choice_.zeros[hanging]);
    } else if (column != nullptr) {
      const double counts = reading.counts.value_or(0.0);
      ColumnProfile look = *column;
      if (reading.unit == ReadingUnit::kCount) {
        // Convert counts to angles.
        for (double& value : look.values) value *= reading_unit_size(reading.unit, counts);
        reading.rest =
            counts > 0.0 ? guess_hanging_reading(look, ReadingUnit::kRadian, driven) : 0.0;
      } else {
        reading.rest = guess_hanging_reading(look, reading.unit, driven);
      }
    }
    if (column != nullptr && !answers_.swing) {
      answers_.swing = estimate_swing_frequency(*column, reading.unit, reading.rest, period_);
    }
  }

  void refuse_unused_inversions() const {
    for (const std::string& name : choice_.inverted) {
      const bool used = std::ranges::any_of(
          answers_.readings, [&](const EncoderAnswer& r) { return r.column == name; });
      if (used) continue;
      throw proto::InputError("--invert " + name + ": the column is not used for any joint");
    }
  }

  void take_motor() {
    if (choice_.no_motor) return;
    const ColumnProfile* const column =
        choice_.command.empty() ? find_command_column(columns_) : named_numbers(choice_.command);
    if (column == nullptr && choice_.command.empty() && choice_.command_unit.empty()) return;
    MotorAnswer motor;
    motor.column = column != nullptr         ? column->name
                   : choice_.command.empty() ? "command"
                                             : choice_.command;
    if (column != nullptr) {
      claim(column->name, "command");
      const CommandUnit unit = guess_command_unit(*column);
      motor.unit = unit.unit;
      motor.scale = unit.scale;
      motor.has_scale = unit.scale != 1.0;
    }
    if (!choice_.command_unit.empty()) {
      const CommandUnit unit = parse_command_unit(choice_.command_unit);
      // The scale confirms the unit, where the column's name states another one.
      const bool differs = unit.unit != motor.unit || unit.scale != motor.scale;
      motor.has_scale =
          unit.scale != 1.0 || (column != nullptr && has_command_unit(*column) && differs);
      motor.unit = unit.unit;
      motor.scale = unit.scale;
    }
    if (column != nullptr) {
      const double most = motor.scale * std::max(std::abs(column->low), std::abs(column->high));
      if (most > 0.0) answers_.command_max = most;
      if (motor.unit == "duty" && most > 1.0) {
        throw proto::InputError("column \"" + column->name + "\" reaches " + format_number(most) +
                                ", but a duty is from -1 to 1. Give --command-unit 1 for a number "
                                "without a unit, or divide the column by its largest value");
      }
    }
    answers_.motor = motor;
  }

  /// Returns the unit of a command, with its scale to the base unit; "duty" in any case.
  static CommandUnit parse_command_unit(const std::string& text) {
    std::string lower = text;
    std::ranges::transform(lower, lower.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::string& name = lower == "duty" ? lower : text;
    return find_command_unit('[' + name + ']').value_or(CommandUnit{name});
  }

  void take_segments() {
    const ColumnProfile* const column =
        choice_.segment.empty() ? find_segment_column(columns_) : named(choice_.segment);
    answers_.segment_column = column != nullptr ? column->name : choice_.segment;
    claim(answers_.segment_column, "segment number");
  }

  /// Describes the use of every column, or why it is not used.
  void explain_columns() {
    for (const ColumnProfile& column : columns_) {
      ColumnUse& use = answers_.columns.emplace_back(ColumnUse{column.name, column.role, ""});
      if (use.use.empty()) {
        use.reason = describe_unused_column(column);
        continue;
      }
      use.reason = reason_of(column);
      if (use.use == "time") {
        use.use += " in " + answers_.time_unit.name;
        const bool is_known = !choice_.time_unit.empty() || find_time_unit(column.label);
        if (!is_known) use.reason += "; unit from its values";
      }
      if (use.use == "command") {
        const MotorAnswer& motor = *answers_.motor;
        use.use +=
            " in " + (motor.scale == 1.0 ? "" : format_number(motor.scale) + " ") + motor.unit;
        const bool is_known = !choice_.command_unit.empty() || has_command_unit(column);
        if (!is_known) use.reason += "; unit assumed, see --command-unit";
      }
      const auto reading =
          std::ranges::find(answers_.readings, column.name, &EncoderAnswer::column);
      if (reading == answers_.readings.end()) continue;
      use.use += std::string(" in ") + reading_unit_name(reading->unit);
      const bool is_position = column.role == "position";
      const bool has_given_unit =
          !(is_position ? choice_.position_unit : choice_.angle_unit).empty();
      if (!has_given_unit && !has_unit_name(column)) use.reason += "; unit from its values";
      if (!(reading->counts_modulo > 0.0)) continue;
      use.use += ", a counter that starts again after " + format_modulus(reading->counts_modulo) +
                 " counts";
    }
  }

  /// Returns why a column was chosen for its role.
  std::string reason_of(const ColumnProfile& column) const {
    const bool is_chosen = std::ranges::count(choice_.angles, column.name) > 0 ||
                           column.name == choice_.time || column.name == choice_.command ||
                           column.name == choice_.position || column.name == choice_.segment;
    if (is_chosen) return "given";
    if (column.role == "time" && !has_time_name(column)) return "it rises evenly";
    const bool is_position = column.role == "position";
    const bool is_reading = is_position || column.role.starts_with("angle");
    if (is_reading && !has_encoder_name(column, is_position)) return "no other column moves";
    return is_reading && !column.moves ? "by its name, but it hardly moves" : "by its name";
  }

  std::vector<ColumnProfile> columns_;  ///< with their roles
  const ColumnChoice& choice_;
  RigAnswers& answers_;
  std::vector<std::string> names_;
  double period_ = 0.0;  // of the recording [s]; 0: unknown
};

}  // namespace

double parse_hanging_reading(const std::string& text) {
  if (text == "hanging") return 0.0;
  if (text == "upright") return M_PI;
  double degrees = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, fault] = std::from_chars(text.data(), end, degrees);
  if (fault != std::errc() || rest != end || !std::isfinite(degrees)) {
    throw proto::InputError(
        "\"" + text +
        "\" is not a valid zero. "
        "Write hanging if it reads 0 when hanging, upright if it reads 0 when upright, "
        "or the reading when hanging in degrees");
  }
  return degrees * M_PI / 180.0;
}

bool can_joint_hang(RigKind kind, std::size_t reading) {
  if (kind == RigKind::kFourbar) return false;
  return reading > 0 || (!has_cart(kind) && kind != RigKind::kFuruta);
}

void propose_columns(const std::vector<ColumnProfile>& columns, const ColumnChoice& choice,
                     RigAnswers& answers) {
  Proposer(columns, choice, answers).propose();
}

std::string list_column_names(const std::vector<ColumnProfile>& columns) {
  constexpr std::size_t kNamesMax = 30;
  const auto shown = std::span(columns).first(std::min(columns.size(), kNamesMax));
  const std::string more = columns.size() > kNamesMax
                               ? " and " + std::to_string(columns.size() - kNamesMax) + " more"
                               : "";
  return join_items(shown, &ColumnProfile::name) + more;
}

}  // namespace service
