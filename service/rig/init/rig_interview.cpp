#include "service/rig/init/rig_interview.hpp"

#include <charconv>
#include <cmath>
#include <istream>
#include <ostream>

#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr int kLinksMax = 16;  // most joints of an estimate in joint coordinates

const char* length_question(RigKind kind, std::size_t link) {
  if (kind == RigKind::kFuruta) {
    return link == 0 ? "length from the axis to the pendulum's joint"
                     : "length from its joint to its tip";
  }
  if (kind == RigKind::kFourbar) return "length from joint to joint";
  return "length from its joint to the next joint, or to its tip";
}

/// Returns the question that asks the user for the positive direction of a joint.
std::string positive_question(RigKind kind, std::size_t reading, const std::string& column) {
  if (measures_cart_position(kind, reading))
    return "does " + column + " grow when the cart goes to the right?";
  if (kind == RigKind::kFuruta) {
    return reading == 0
               ? "does " + column + " grow when the arm turns counterclockwise, seen from above?"
               : "does " + column +
                     " grow when the pendulum turns counterclockwise, "
                     "seen from the arm's tip toward the axis?";
  }
  return "does " + column +
         " grow counterclockwise, seen from the front (a hanging link swings to the right)?";
}

std::string reading_text(const RigAnswers& answers, std::size_t k) {
  const EncoderAnswer& reading = answers.readings[k];
  std::string text = reading.column + " in " + reading_unit_name(reading.unit);
  if (reading.counts) {
    text += ", " + format_number(*reading.counts, 8) +
            (measures_cart_position(answers.kind, k) ? " counts/m" : " counts/turn");
  }
  if (can_joint_hang(answers.kind, k)) {
    text += ", reads " + format_number(reading.rest * 180.0 / M_PI, 4) + "° when hanging";
  }
  return text;
}

void show_columns(Interview& interview, const RigAnswers& answers) {
  const auto names = measured_joint_names(answers.kind, static_cast<int>(answers.links.size()));
  interview.say("time: " + (answers.time_column.empty()
                                ? format_number(answers.rate) + " Hz"
                                : answers.time_column + " in " + answers.time_unit.name));
  for (std::size_t k = 0; k < answers.readings.size(); ++k) {
    interview.say("joint " + names[k] + ": " + reading_text(answers, k));
  }
  interview.say(answers.motor ? "motor: " + answers.motor->column + " in " + answers.motor->unit
                              : "motor: none");
}

/// Asks the user for the name of each column again.
void ask_choice(Interview& interview, const std::vector<ColumnProfile>& columns,
                const RigAnswers& answers, ColumnChoice& choice) {
  const auto column = [&](const std::string& question, const std::string& otherwise) {
    return interview.ask_until_valid<std::string>(
        question, otherwise, [&](const std::string& text) {
          for (const ColumnProfile& each : columns) {
            if (each.name == text) return text;
          }
          if (columns.empty() && !text.empty()) return text;
          throw proto::InputError("there is no column \"" + text + "\"; the columns are " +
                                  list_column_names(columns));
        });
  };
  const auto names = measured_joint_names(answers.kind, static_cast<int>(answers.links.size()));
  if (choice.rate == 0.0) choice.time = column("column of the time", answers.time_column);
  choice.angles.clear();
  choice.zeros.clear();
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::string proposed = k < answers.readings.size() ? answers.readings[k].column : "";
    const std::string chosen = column("column that reads joint " + names[k], proposed);
    if (measures_cart_position(answers.kind, k)) {
      choice.position = chosen;
    } else {
      choice.angles.push_back(chosen);
    }
    if (!can_joint_hang(answers.kind, k)) continue;
    const double rest = k < answers.readings.size() ? answers.readings[k].rest : 0.0;
    choice.zeros.push_back(interview.ask_until_valid<std::string>(
        "reading when it hangs: \"hanging\" (0°), \"upright\" (180°), or a number of degrees",
        format_number(rest * 180.0 / M_PI, 6), [](const std::string& text) {
          parse_hanging_reading(text);
          return text;
        }));
  }
  choice.angle_unit = interview.ask_until_valid<std::string>(
      "unit of the angles: rad, deg, turn, count, mrad, gon or arcmin",
      answers.readings.empty() ? "rad" : reading_unit_name(answers.readings.back().unit),
      [](const std::string& text) {
        if (is_length_unit(parse_reading_unit(text))) {
          throw proto::InputError("\"" + text + "\" is not a unit of an angle");
        }
        return text;
      });
  if (parse_reading_unit(choice.angle_unit) != ReadingUnit::kCount) {
    const auto counts =
        interview.ask_positive_number("encoder counts per turn (empty: not known)", {});
    if (counts) choice.counts = {*counts};
  }
  choice.no_motor = !interview.ask_yes_or_no("is it driven by a motor whose command is recorded?",
                                             answers.motor.has_value());
  if (choice.no_motor) return;
  choice.command = column("column of the command", answers.motor ? answers.motor->column : "");
  choice.command_unit = interview.ask("unit of the command: V, A, N·m, N, duty, 1",
                                      answers.motor ? answers.motor->unit : "V");
}

/// Asks for the counts per turn or metre of an encoder until there is an answer.
double ask_counts(Interview& interview, const std::string& column, bool is_position) {
  const std::string question = "column " + column + " is in counts: encoder counts per " +
                               (is_position ? "metre" : "turn (usually four times its lines)");
  for (;;) {
    if (const auto counts = interview.ask_positive_number(question, {})) return *counts;
    interview.say("rigcal cannot convert counts to " +
                  std::string(is_position ? "a position" : "an angle") + " without this number");
  }
}

/// Asks for the counts of every encoder whose readings are in counts of unknown size. Returns
/// whether there was one.
bool ask_unknown_counts(Interview& interview, const RigAnswers& answers, ColumnChoice& choice) {
  bool has_asked = false;
  std::vector<double> counts;
  for (std::size_t k = 0; k < answers.readings.size(); ++k) {
    const EncoderAnswer& reading = answers.readings[k];
    const bool is_position = measures_cart_position(answers.kind, k);
    double count = reading.counts.value_or(0.0);
    if (reading.unit == ReadingUnit::kCount && !reading.counts) {
      count = ask_counts(interview, reading.column, is_position);
      has_asked = true;
    }
    if (!is_position) {
      counts.push_back(count);
    } else if (reading.unit == ReadingUnit::kCount) {
      choice.counts_per_m = count;
    }
  }
  if (has_asked) choice.counts = counts;
  return has_asked;
}

void ask_sizes(Interview& interview, RigAnswers& answers) {
  const auto names = link_names(answers.kind, static_cast<int>(answers.links.size()));
  for (std::size_t k = 0; k < names.size(); ++k) {
    LinkAnswer& link = answers.links[k];
    link.length = interview.ask_positive_number(
        names[k] + ": " + length_question(answers.kind, k) + " [m]", link.length);
    link.mass = interview.ask_positive_number(names[k] + ": mass [kg]", link.mass);
    if (answers.kind == RigKind::kFuruta && k == 0 && !link.mass) continue;
    link.center = interview.ask_positive_number(
        names[k] + ": from its joint to its centre of mass [m] (empty: halfway)", link.center);
  }
  if (has_cart(answers.kind)) {
    answers.cart_mass = interview.ask_positive_number("cart: mass [kg]", answers.cart_mass);
  }
  if (answers.kind == RigKind::kFourbar) {
    answers.ground =
        interview.ask_positive_number("distance between the two fixed joints [m]", answers.ground);
  }
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<double> parse_size(const std::string& text) {
  if (text.empty()) return std::nullopt;
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc() || rest != end || !std::isfinite(value) || !(value > 0.0)) {
    throw proto::InputError(
        "\"" + text +
        "\" is not a positive number. Write a number such as 0.25, or leave it empty if unknown");
  }
  return value;
}

}  // namespace

void ask_rig_kind(Interview& interview, RigAnswers& answers) {
  interview.say("What is it?");
  for (const RigKindDescription& kind : supported_rig_kinds()) {
    interview.say(std::string("  ") + kind.name + ": " + kind.what);
  }
  answers.kind =
      interview.ask_until_valid<RigKind>("kind", rig_kind_name(answers.kind), parse_rig_kind);
  if (answers.kind != RigKind::kChain) return;
  const int links =
      interview.ask_until_valid<int>("number of links", "3", [](const std::string& text) {
        const int count = std::atoi(text.c_str());
        if (count >= 2 && count <= kLinksMax) return count;
        throw proto::InputError("\"" + text + "\": write a whole number from 2 to " +
                                std::to_string(kLinksMax));
      });
  answers.links.resize(static_cast<std::size_t>(links));
}

void ask_link_sizes(Interview& interview, RigAnswers& answers) {
  answers.links.resize(link_names(answers.kind, static_cast<int>(answers.links.size())).size());
  interview.say(
      "Enter known lengths and masses; leave unknown ones empty. "
      "A ruler and a scale are accurate enough.");
  for (bool possible = false; !possible;) {
    ask_sizes(interview, answers);
    try {
      check_link_sizes(answers);
      possible = true;
    } catch (const proto::InputError& fault) {
      interview.say(fault.what());
    }
  }
}

void ask_recording_columns(Interview& interview, const std::vector<ColumnProfile>& columns,
                           ColumnChoice choice, RigAnswers& answers) {
  const RigAnswers before = answers;
  // Explains a fault if a new answer can correct it.
  const auto propose = [&] {
    try {
      answers = before;
      propose_columns(columns, choice, answers);
      return true;
    } catch (const proto::InputError& fault) {
      if (columns.empty()) throw;
      interview.say(fault.what());
      return false;
    }
  };
  bool right = propose();
  if (right) {
    show_columns(interview, answers);
    right = interview.ask_yes_or_no("is that right?", true);
  }
  while (!right) {
    ask_choice(interview, columns, answers, choice);
    right = propose();
  }
  if (ask_unknown_counts(interview, answers, choice)) {
    propose();  // the zeros depend on the counts
    show_columns(interview, answers);
  }
  const bool plane = answers.kind == RigKind::kDoublePendulum || answers.kind == RigKind::kChain;
  if (plane) {
    answers.absolute = interview.ask_yes_or_no(
        "are the angles of the second and further links measured from the vertical (not from the "
        "previous link)?",
        answers.absolute);
  }
  if (answers.readings.size() == 1 && !answers.motor) return;  // its sign has no effect
  for (std::size_t k = 0; k < answers.readings.size(); ++k) {
    EncoderAnswer& reading = answers.readings[k];
    reading.inverted = !interview.ask_yes_or_no(positive_question(answers.kind, k, reading.column),
                                                !reading.inverted);
  }
}

void ask_unit(Interview& interview, RigAnswers& answers) {
  const std::string url = interview.ask(
      "address of the unit that reads the encoders, such as serial:///dev/ttyACM0 (empty: none)");
  if (url.empty()) return;
  UnitAnswer unit{.url = url};
  interview.say(
      "Enter limits inside the end stops. Beyond them, rigcal-daq switches the motor off.");
  const auto joints = measured_joint_names(answers.kind, static_cast<int>(answers.links.size()));
  for (std::size_t k = 0; k < answers.readings.size(); ++k) {
    const bool slides = measures_cart_position(answers.kind, k);
    const std::string name = "joint \"" + joints[k] + "\"";
    const auto ask_counts = [&](std::optional<double>& counts) {
      if (counts) return;
      counts = interview.ask_positive_number(
          name + ": encoder counts per " + (slides ? "metre" : "turn"), std::nullopt);
    };
    ask_counts(answers.readings[k].counts);
    LimitAnswer limit = interview.ask_until_valid<LimitAnswer>(
        name + ": safe range MIN:MAX " + (slides ? "[m]" : "[deg]"), slides ? "" : "-180:180",
        [&](const std::string& text) { return parse_joint_range(text, slides); });
    const auto speed = interview.ask_positive_number(
        name + ": largest safe speed " + (slides ? "[m/s]" : "[rad/s]"),
        slides ? std::nullopt : std::optional<double>(30.0));
    limit.speed = speed.value_or(1.0);
    unit.limits.push_back(limit);
  }
  if (answers.motor) {
    unit.command_max = interview
                           .ask_positive_number("largest command [" + answers.motor->unit + "]",
                                                answers.motor->unit == "duty" ? 0.5 : 1.0)
                           .value_or(1.0);
  }
  answers.unit = std::move(unit);
}

std::string Interview::ask(const std::string& question, const std::string& otherwise) {
  out_ << question << (otherwise.empty() ? "" : " [" + otherwise + "]") << ": " << std::flush;
  std::string line;
  if (!std::getline(in_, line)) {
    out_ << '\n';
    throw InputEnded();
  }
  const std::string answer = trimmed(line);
  return answer.empty() ? otherwise : answer;
}

bool Interview::ask_yes_or_no(const std::string& question, bool otherwise) {
  return ask_until_valid<bool>(question + " (y/n)", otherwise ? "y" : "n",
                               [](const std::string& text) {
                                 if (text == "y" || text == "yes") return true;
                                 if (text == "n" || text == "no") return false;
                                 throw proto::InputError("\"" + text + "\" is neither y nor n");
                               });
}

std::optional<double> Interview::ask_positive_number(const std::string& question,
                                                     const std::optional<double>& otherwise) {
  return ask_until_valid<std::optional<double>>(
      question, otherwise ? format_number(*otherwise, 8) : std::string(), parse_size);
}

void Interview::say(const std::string& sentence) { out_ << sentence << '\n'; }

}  // namespace service
