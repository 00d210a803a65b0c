#include "daq/scenario/scenario_message.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "proto/text/csv_table.hpp"
#include "proto/text/files.hpp"

namespace daq {
namespace {

namespace v1 = rigcal::v1;

// What a reader of one excitation needs to know beside its message.
struct Context {
  const ScenarioRig& rig;
  const std::string& path;  // of the scenario file
  double duration_s;
  proto::TextLocator place;  // of the excitation
};

std::string quoted_list(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "\"" : ", \"") + name + "\"";
  return list;
}

std::size_t joint_of(const std::string& hinge, const char* field, const Context& context) {
  const auto& hinges = context.rig.hinges;
  const auto found = std::find(hinges.begin(), hinges.end(), hinge);
  if (found == hinges.end()) {
    context.place.at(field).fail("hinge \"" + hinge + "\" has no angle in " + context.rig.path +
                                 "; write one of " + quoted_list(hinges));
  }
  return static_cast<std::size_t>(found - hinges.begin());
}

template <typename Message>
void check_motor(const Message& excitation, const Context& context) {
  const auto& motors = context.rig.motors;
  if (std::find(motors.begin(), motors.end(), excitation.motor()) != motors.end()) return;
  const proto::TextLocator place = context.place.at("motor");
  if (motors.empty()) {
    place.fail("needs a motor, and " + context.rig.path + " has none; use release");
  }
  const std::string said =
      excitation.motor().empty()
          ? "says no motor, and which is meant is never guessed"
          : "\"" + excitation.motor() + "\" has no motor in " + context.rig.path;
  place.fail(said + "; write motor: " + quoted_list(motors));
}

/// Refuses a number of the other kind of joint.
void refuse_kind(double number, const char* field, const std::string& hinge, bool slides,
                 const char* instead, const Context& context) {
  if (number == 0.0) return;
  context.place.at(field).fail("joint \"" + hinge + (slides ? "\" slides" : "\" turns") +
                               " and has no " + field + "; write " + instead);
}

Excitation read(const v1::Release& source, const Context& context) {
  const bool held = context.rig.has_operator;
  ReleaseSettings settings{.has_operator = held,
                           .joint = held ? joint_of(source.hinge(), "hinge", context) : 0,
                           .joint_count = context.rig.hinges.size(),
                           .slides = context.rig.slides,
                           .held_angle_rad = source.held_angle_rad(),
                           .held_tolerance_rad = source.held_tolerance_rad(),
                           .rest_speed_rad_per_s = source.rest_speed_rad_per_s(),
                           .rest_speed_m_per_s = source.rest_speed_m_per_s(),
                           .rest_time_s = source.rest_time_s()};
  const bool slides = std::ranges::count(settings.slides, true) > 0;
  const bool turns = std::ranges::count(settings.slides, false) > 0;
  const auto refuse = [&](double number, const char* field, bool of_slide, const char* instead) {
    refuse_kind(number, field, source.hinge(), of_slide, instead, context);
  };
  // No kinds are stated where all joints turn.
  if (held && settings.joint < settings.slides.size() && settings.slides[settings.joint]) {
    refuse(source.held_angle_rad(), "held_angle_rad", true, "held_position_m");
    refuse(source.held_tolerance_rad(), "held_tolerance_rad", true, "held_tolerance_m");
    settings.held_angle_rad = source.held_position_m();
    settings.held_tolerance_rad = source.held_tolerance_m();
  } else if (held) {
    refuse(source.held_position_m(), "held_position_m", false, "held_angle_rad");
    refuse(source.held_tolerance_m(), "held_tolerance_m", false, "held_tolerance_rad");
  }
  // A joint whose speed of rest is not stated would never rest.
  if (slides && settings.rest_speed_rad_per_s > 0.0 && settings.rest_speed_m_per_s == 0.0) {
    context.place.at("rest_speed_rad_per_s")
        .fail("some joints of the rig slide; write rest_speed_m_per_s beside it");
  }
  if (turns && settings.rest_speed_m_per_s > 0.0 && settings.rest_speed_rad_per_s == 0.0) {
    context.place.at("rest_speed_m_per_s")
        .fail("some joints of the rig turn; write rest_speed_rad_per_s beside it");
  }
  return Release(settings);
}

Excitation read(const v1::SwingUp& source, const Context& context) {
  return SwingUp({.pendulum = joint_of(source.pendulum(), "pendulum", context),
                  .energy_gain = source.energy_gain(),
                  .command_max = source.command_max(),
                  .natural_frequency_Hz = source.natural_frequency_hz(),
                  .stop_angle_rad = source.stop_angle_rad(),
                  .kick_command = source.kick_command(),
                  .kick_time_s = source.kick_time_s()});
}

Excitation read(const v1::Pulse& source, const Context& /*context*/) {
  return Pulse{source.command(), source.start_s(), source.width_s()};
}

Excitation read(const v1::PulseTrain& source, const Context& /*context*/) {
  PulseTrain train;
  for (const v1::TrainPulse& pulse : source.pulse()) {
    train.pulses.push_back({pulse.command(), pulse.start_s(), pulse.width_s()});
  }
  return train;
}

Excitation read(const v1::Step& source, const Context& /*context*/) {
  return Step{source.command(), source.start_s()};
}

Excitation read(const v1::Chirp& source, const Context& context) {
  return Chirp{source.amplitude(), source.frequency_start_hz(), source.frequency_end_hz(),
               source.start_s(), context.duration_s};
}

Excitation read(const v1::Multisine& source, const Context& context) {
  Multisine multisine{.ramp_s = source.ramp_s(), .duration_s = context.duration_s};
  for (const v1::Sine& sine : source.sine()) {
    Tone tone{.frequency_Hz = sine.frequency_hz(), .amplitude = sine.amplitude()};
    if (sine.has_phase_rad()) tone.phase_rad = sine.phase_rad();
    multisine.tones.push_back(tone);
  }
  if (multisine.faults().empty() && context.duration_s > 0.0) choose_phases(multisine);
  return multisine;
}

// The command of the last row is not used: it only says until when the one before it is held.
Excitation read(const v1::Replay& source, const Context& context) {
  if (source.file().empty()) context.place.fail("needs the CSV file; write file: \"...\"");
  const auto folder = std::filesystem::path(context.path).parent_path();
  const std::string file = (folder / source.file()).string();
  const proto::CsvTable table = proto::parse_csv(
      file, proto::read_file(file, proto::kTableSizeMax),
      {{source.time_column()}, {source.command_column(), proto::MissingCells::kAllowedAtTheEnd}});
  const double scale = source.scale() == 0.0 ? 1.0 : source.scale();
  std::vector<double> command = table.values[1];
  if (std::isnan(command.back())) command.back() = 0.0;
  for (double& value : command) value *= scale;
  return Replay(table.values[0], std::move(command));
}

// The one place where a scenario's message meets its type. `use` is called with the message of the
// excitation and the name of its field.
template <typename Use>
auto with_excitation(const v1::Scenario& source, const proto::TextLocator& root, const Use& use) {
  switch (source.excitation_case()) {
    case v1::Scenario::kRelease:
      return use(source.release(), "release");
    case v1::Scenario::kSwingUp:
      return use(source.swing_up(), "swing_up");
    case v1::Scenario::kPulse:
      return use(source.pulse(), "pulse");
    case v1::Scenario::kStep:
      return use(source.step(), "step");
    case v1::Scenario::kChirp:
      return use(source.chirp(), "chirp");
    case v1::Scenario::kMultisine:
      return use(source.multisine(), "multisine");
    case v1::Scenario::kReplay:
      return use(source.replay(), "replay");
    case v1::Scenario::kPulseTrain:
      return use(source.pulse_train(), "pulse_train");
    case v1::Scenario::EXCITATION_NOT_SET:
      break;
  }
  root.fail(
      "names no excitation; write one of release, swing_up, pulse, pulse_train, step, chirp, "
      "multisine, replay");
}

// Where the field stands that a fault begins with: "multisine.sine[2].frequency_hz must be …".
proto::TextLocator place_of(std::string_view fault, proto::TextLocator place) {
  std::string_view path = fault.substr(0, fault.find_first_of(" :"));
  while (!path.empty()) {
    std::string_view field = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(field.size() + 1, path.size()));
    int index = -1;
    if (const std::size_t bracket = field.find('['); bracket != std::string_view::npos) {
      std::from_chars(field.data() + bracket + 1, field.data() + field.size(), index);
      field = field.substr(0, bracket);
    }
    place = place.at(std::string(field), index);
  }
  return place;
}

}  // namespace

RigScenario make_scenario(const v1::Scenario& message, const std::string& path,
                          const proto::TextLocator& place, const ScenarioRig& rig) {
  std::string motor;
  std::string name;  // of the excitation's field
  Excitation excitation =
      with_excitation(message, place, [&](const auto& source, const char* field) {
        const Context context{rig, path, message.duration_s(), place.at(field)};
        name = field;
        if constexpr (requires { source.motor(); }) {
          check_motor(source, context);
          motor = source.motor();
        }
        return read(source, context);
      });
  Scenario scenario(message.name(), std::move(excitation), message.duration_s());
  if (const auto faults = scenario.faults(); !faults.empty()) {
    place_of(faults.front(), place).fail(faults.front());
  }
  if (!std::isfinite(scenario.command_peak())) {
    place.at(name).fail("what is commanded must be a finite number");
  }
  return {std::move(scenario), std::move(motor)};
}

double tighter(double limit, double wish, const char* field, const proto::TextLocator& place) {
  if (wish == 0.0) return limit;
  if (wish <= limit) return wish;
  std::ostringstream what;
  what << field << " is " << wish << ", the rig file allows " << limit
       << "; lower it or leave it out";
  place.at(field).fail(what.str());
}

CommandLimits tighten_command(const CommandLimits& rig, const v1::Limits& wishes,
                              const proto::TextLocator& place) {
  const proto::TextLocator limits = place.at("limits");
  return {
      tighter(rig.command_max, wishes.command_max(), "command_max", limits),
      tighter(rig.command_slew_per_s_max, wishes.command_slew_max(), "command_slew_max", limits)};
}

void check_command(const Scenario& scenario, const CommandLimits& limits, const std::string& unit,
                   const std::string& rig_path, const proto::TextLocator& place) {
  const double peak = scenario.command_peak();
  if (peak <= limits.command_max) return;
  std::ostringstream what;
  what << "asks for up to " << peak << " " << unit << ", allowed are " << limits.command_max << " ("
       << rig_path << ", safety.command_max, or this file's limits); lower the command";
  place.fail(what.str());
}

}  // namespace daq
