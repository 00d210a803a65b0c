#include "daq/scenario/scenario_message.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "proto/text/files.hpp"
#include "proto/text/table/csv_table.hpp"

namespace daq {
namespace {

namespace v1 = rigcal::v1;

// Data needed to read an excitation, in addition to its message.
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

std::size_t joint_of(const std::string& joint, const char* field, const Context& context) {
  const auto& joints = context.rig.joints;
  const auto found = std::find(joints.begin(), joints.end(), joint);
  if (found == joints.end()) {
    context.place.at(field).fail("joint \"" + joint + "\" has no measured angle in " +
                                 context.rig.path + "; use one of " + quoted_list(joints));
  }
  return static_cast<std::size_t>(found - joints.begin());
}

// Returns the index of the motor that an excitation drives.
template <typename Message>
std::size_t motor_of(const Message& excitation, const Context& context) {
  const auto& motors = context.rig.motors;
  const auto found = std::find(motors.begin(), motors.end(), excitation.motor());
  if (found != motors.end()) return static_cast<std::size_t>(found - motors.begin());
  const proto::TextLocator place = context.place.at("motor");
  if (motors.empty()) {
    place.fail("needs a motor, but " + context.rig.path + " has none; use release");
  }
  const std::string said =
      excitation.motor().empty()
          ? "names no motor"
          : "\"" + excitation.motor() + "\" has no motor in " + context.rig.path;
  place.fail(said + "; write motor: " + quoted_list(motors));
}

/// Rejects a number for turning joints if the joint slides, and for sliding joints if it turns.
void refuse_kind(double number, const char* field, const std::string& joint, bool slides,
                 const char* instead, const Context& context) {
  if (number == 0.0) return;
  context.place.at(field).fail("joint \"" + joint + (slides ? "\" slides" : "\" turns") +
                               ", so it has no " + field + "; write " + instead);
}

Excitation read(const v1::Release& source, const Context& context) {
  const bool held = context.rig.has_operator;
  ReleaseSettings settings{.has_operator = held,
                           .joint = held ? joint_of(source.joint(), "joint", context) : 0,
                           .joint_count = context.rig.joints.size(),
                           .slides = context.rig.slides,
                           .held_angle_rad = source.held_angle_rad(),
                           .held_tolerance_rad = source.held_tolerance_rad(),
                           .rest_speed_rad_per_s = source.rest_speed_rad_per_s(),
                           .rest_speed_m_per_s = source.rest_speed_m_per_s(),
                           .rest_time_s = source.rest_time_s()};
  const bool slides = std::ranges::count(settings.slides, true) > 0;
  const bool turns = std::ranges::count(settings.slides, false) > 0;
  const auto refuse = [&](double number, const char* field, bool of_slide, const char* instead) {
    refuse_kind(number, field, source.joint(), of_slide, instead, context);
  };
  // `slides` may be empty, if all joints turn.
  if (held && settings.joint < settings.slides.size() && settings.slides[settings.joint]) {
    refuse(source.held_angle_rad(), "held_angle_rad", true, "held_position_m");
    refuse(source.held_tolerance_rad(), "held_tolerance_rad", true, "held_tolerance_m");
    settings.held_angle_rad = source.held_position_m();
    settings.held_tolerance_rad = source.held_tolerance_m();
  } else if (held) {
    refuse(source.held_position_m(), "held_position_m", false, "held_angle_rad");
    refuse(source.held_tolerance_m(), "held_tolerance_m", false, "held_tolerance_rad");
  }
  // A joint without a rest speed would never be at rest.
  if (slides && settings.rest_speed_rad_per_s > 0.0 && settings.rest_speed_m_per_s == 0.0) {
    context.place.at("rest_speed_rad_per_s")
        .fail("some joints of the rig slide; also write rest_speed_m_per_s");
  }
  if (turns && settings.rest_speed_m_per_s > 0.0 && settings.rest_speed_rad_per_s == 0.0) {
    context.place.at("rest_speed_m_per_s")
        .fail("some joints of the rig turn; also write rest_speed_rad_per_s");
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
  if (multisine.validation_errors().empty() && context.duration_s > 0.0)
    choose_multisine_phases(multisine);
  return multisine;
}

Excitation read(const v1::TestPush& source, const Context& context) {
  TestPushSettings settings{.joint = joint_of(source.motor(), "motor", context),
                            .joint_count = context.rig.joints.size(),
                            .slides = context.rig.slides,
                            .level = source.command(),
                            .rise_s = source.rise_s(),
                            .push_s_max = source.rise_s(),
                            .motion_rad = source.motion_rad(),
                            .other_motion_rad = source.motion_rad(),
                            .other_motion_m = source.motion_m(),
                            .rest_s = source.rest_s(),
                            .count = std::max(1, static_cast<int>(source.count()))};
  if (settings.joint < settings.slides.size() && settings.slides[settings.joint]) {
    settings.motion_rad = source.motion_m();
    if (source.has_position_m_min()) settings.lowest_rad = source.position_m_min();
    if (source.has_position_m_max()) settings.highest_rad = source.position_m_max();
  } else {
    if (source.has_angle_rad_min()) settings.lowest_rad = source.angle_rad_min();
    if (source.has_angle_rad_max()) settings.highest_rad = source.angle_rad_max();
  }
  // A joint without a limit would end each push at once.
  const auto require = [&](double motion, bool slides, const char* field) {
    const auto& all = settings.slides;
    const bool has_joint = slides ? std::ranges::count(all, true) > 0
                                  : all.empty() || std::ranges::count(all, false) > 0;
    if (!has_joint || motion > 0.0) return;
    context.place.fail(std::string("needs ") + field + ", because a joint of the rig " +
                       (slides ? "slides" : "turns") + "; write " + field + ": ...");
  };
  require(source.motion_rad(), false, "motion_rad");
  require(source.motion_m(), true, "motion_m");
  return TestPush(settings);
}

Excitation read(const v1::PositionFeedback& source, const Context& context) {
  const std::size_t joint = joint_of(source.motor(), "motor", context);
  const std::vector<bool>& all_slide = context.rig.slides;
  const bool slides = joint < all_slide.size() && all_slide[joint];
  if (slides) {
    refuse_kind(source.angle_rad(), "angle_rad", source.motor(), true, "position_m", context);
  } else {
    refuse_kind(source.position_m(), "position_m", source.motor(), false, "angle_rad", context);
  }
  return PositionFeedback({.joint = joint,
                           .setpoint_rad = slides ? source.position_m() : source.angle_rad(),
                           .proportional_gain = source.proportional_gain(),
                           .derivative_gain = source.derivative_gain(),
                           .command_max = source.command_max()});
}

// The last row's command is not used; its time ends the one before it.
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

// Calls `use` with the message of each excitation and its location.
template <typename Use>
void for_each_excitation(const v1::Scenario& source, const proto::TextLocator& root,
                         const Use& use) {
  const auto each = [&](const auto& messages, const char* field) {
    for (int i = 0; i < messages.size(); ++i) use(messages[i], root.at(field, i));
  };
  each(source.release(), "release");
  each(source.swing_up(), "swing_up");
  each(source.pulse(), "pulse");
  each(source.step(), "step");
  each(source.chirp(), "chirp");
  each(source.multisine(), "multisine");
  each(source.replay(), "replay");
  each(source.pulse_train(), "pulse_train");
  each(source.test_push(), "test_push");
  each(source.position_feedback(), "position_feedback");
}

// Returns the location of the field that a fault begins with: "multisine.sine[2].frequency_hz".
// @param place  location of the excitation
proto::TextLocator place_of(std::string_view fault, proto::TextLocator place) {
  std::string_view path = fault.substr(0, fault.find_first_of(" :"));
  path.remove_prefix(std::min(path.find('.'), path.size() - 1) + 1);
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

// Rejects a second excitation of a motor, or one beside a release.
void check_combination(const MotorExcitation& added, const std::vector<MotorExcitation>& others,
                       const ScenarioRig& rig, const proto::TextLocator& place) {
  if (others.empty()) return;
  const auto is_release = [](const MotorExcitation& each) {
    return std::holds_alternative<Release>(each.excitation);
  };
  if (is_release(added) || std::ranges::any_of(others, is_release)) {
    place.fail(
        "cannot be combined with another excitation, because a release has no command; "
        "keep one of them");
  }
  const auto is_feedback = [](const MotorExcitation& each) {
    return std::holds_alternative<PositionFeedback>(each.excitation);
  };
  for (const MotorExcitation& other : others) {
    if (other.motor != added.motor) continue;
    const std::string motor = "\"" + rig.motors[added.motor] + "\"";
    if (is_feedback(added) == is_feedback(other)) {
      place.at("motor").fail(motor +
                             " has two excitations; remove one, or write their sum as a replay");
    }
    if (std::holds_alternative<TestPush>(other.excitation)) {
      place.at("motor").fail(motor + " has a test_push; remove the position_feedback");
    }
  }
}

}  // namespace

Scenario make_scenario(const v1::Scenario& message, const std::string& path,
                       const proto::TextLocator& place, const ScenarioRig& rig) {
  std::vector<MotorExcitation> excitations;
  for_each_excitation(message, place, [&](const auto& source, const proto::TextLocator& own) {
    const Context context{rig, path, message.duration_s(), own};
    std::size_t motor = 0;
    if constexpr (requires { source.motor(); }) motor = motor_of(source, context);
    const MotorExcitation added{read(source, context), motor};
    check_combination(added, excitations, rig, own);
    std::visit(
        [&](const auto& excitation) {
          if (const auto faults = excitation.validation_errors(); !faults.empty()) {
            place_of(faults.front(), own).fail(faults.front());
          }
          if (std::isfinite(excitation.command_peak())) return;
          own.fail("the command must be a finite number");
        },
        added.excitation);
    excitations.push_back(added);
  });
  if (excitations.empty()) {
    place.fail(
        "has no excitation; "
        "add release, swing_up, pulse, pulse_train, step, chirp, multisine, replay, "
        "test_push or position_feedback");
  }
  if (!(message.duration_s() > 0.0)) place.at("duration_s").fail("duration_s must be positive");
  return {message.name(), std::move(excitations), message.duration_s()};
}

double merge_limit(double limit, double wish, const char* field, const proto::TextLocator& place) {
  if (wish == 0.0) return limit;
  if (wish <= limit) return wish;
  std::ostringstream what;
  what << field << " is " << wish << ", the rig file allows " << limit
       << "; lower it or leave it out";
  place.at(field).fail(what.str());
}

std::vector<CommandLimits> merge_command_limits(std::vector<CommandLimits> rig,
                                                const v1::Limits& wishes,
                                                const proto::TextLocator& place) {
  const auto tighten = [&](double CommandLimits::*limit, double wish, const char* field) {
    double most = 0.0;
    for (const CommandLimits& motor : rig) most = std::max(most, motor.*limit);
    if (rig.empty() || wish == 0.0) return;
    merge_limit(most, wish, field, place.at("limits"));
    for (CommandLimits& motor : rig) motor.*limit = std::min(motor.*limit, wish);
  };
  tighten(&CommandLimits::command_max, wishes.command_max(), "command_max");
  tighten(&CommandLimits::command_slew_per_s_max, wishes.command_slew_max(), "command_slew_max");
  return rig;
}

void check_command_limits(const Scenario& scenario, const std::vector<CommandLimits>& limits,
                          const std::vector<std::string>& units, const ScenarioRig& rig,
                          const proto::TextLocator& place) {
  for (std::size_t m = 0; m < limits.size(); ++m) {
    const double peak = scenario.command_peak(m);
    if (peak <= limits[m].command_max) continue;
    std::ostringstream what;
    what << "commands up to " << peak << " " << units[m];
    if (limits.size() > 1) what << " at motor \"" << rig.motors[m] << "\"";
    what << ", allowed are " << limits[m].command_max << " (" << rig.path
         << ", safety.command_max, or this file's limits); lower the command";
    place.fail(what.str());
  }
}

}  // namespace daq
