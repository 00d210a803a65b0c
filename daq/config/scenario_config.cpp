#include "daq/config/scenario_config.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "proto/scenario.pb.h"
#include "proto/text/csv_table.hpp"
#include "proto/text/files.hpp"
#include "proto/text/text_file.hpp"

namespace daq {
namespace {

namespace v1 = rigcal::v1;

// What a reader of one excitation needs to know beside its message.
struct Context {
  const RigConfig& rig;
  const std::string& path;  // of the scenario file
  double duration_s;
  proto::TextLocator place;  // of the excitation
};

std::size_t channel_of(const std::string& hinge, const char* field, const Context& context) {
  const int channel = context.rig.find_channel(hinge);
  if (channel < 0) {
    context.place.at(field).fail("hinge \"" + hinge + "\" has no channel in " + context.rig.path);
  }
  return static_cast<std::size_t>(channel);
}

template <typename Message>
void check_motor(const Message& excitation, const Context& context) {
  if (excitation.motor() == context.rig.motor_hinge && !excitation.motor().empty()) return;
  context.place.at("motor").fail(
      context.rig.motor_hinge.empty()
          ? "needs a motor, and " + context.rig.path + " has none; use release"
          : "\"" + excitation.motor() + "\" is not the rig's motor; write motor: \"" +
                context.rig.motor_hinge + "\"");
}

Excitation read(const v1::Release& source, const Context& context) {
  return Release({.joint = channel_of(source.hinge(), "hinge", context),
                  .joint_count = context.rig.channel.size(),
                  .held_angle_rad = source.held_angle_rad(),
                  .held_tolerance_rad = source.held_tolerance_rad(),
                  .rest_speed_rad_per_s = source.rest_speed_rad_per_s(),
                  .rest_time_s = source.rest_time_s()});
}

Excitation read(const v1::SwingUp& source, const Context& context) {
  check_motor(source, context);
  return SwingUp({.pendulum = channel_of(source.pendulum(), "pendulum", context),
                  .energy_gain = source.energy_gain(),
                  .command_max = source.command_max(),
                  .natural_frequency_Hz = source.natural_frequency_hz(),
                  .stop_angle_rad = source.stop_angle_rad(),
                  .kick_command = source.kick_command(),
                  .kick_time_s = source.kick_time_s()});
}

Excitation read(const v1::Pulse& source, const Context& context) {
  check_motor(source, context);
  return Pulse{source.command(), source.start_s(), source.width_s()};
}

Excitation read(const v1::Step& source, const Context& context) {
  check_motor(source, context);
  return Step{source.command(), source.start_s()};
}

Excitation read(const v1::Chirp& source, const Context& context) {
  check_motor(source, context);
  return Chirp{source.amplitude(), source.frequency_start_hz(), source.frequency_end_hz(),
               source.start_s(), context.duration_s};
}

Excitation read(const v1::Multisine& source, const Context& context) {
  check_motor(source, context);
  Multisine multisine{.ramp_s = source.ramp_s(), .duration_s = context.duration_s};
  for (const v1::Sine& sine : source.sine()) {
    Tone tone{.frequency_Hz = sine.frequency_hz(), .amplitude = sine.amplitude()};
    if (sine.has_phase_rad()) tone.phase_rad = sine.phase_rad();
    multisine.tones.push_back(tone);
  }
  if (multisine.faults().empty() && context.duration_s > 0.0) choose_phases(multisine);
  return multisine;
}

Excitation read(const v1::Replay& source, const Context& context) {
  check_motor(source, context);
  const auto folder = std::filesystem::path(context.path).parent_path();
  const std::string file = (folder / source.file()).string();
  const proto::CsvTable table =
      proto::parse_csv(file, proto::read_file(file, proto::kTableSizeMax),
                       {{source.time_column()}, {source.command_column()}});
  const double scale = source.scale() == 0.0 ? 1.0 : source.scale();
  std::vector<double> command = table.values[1];
  for (double& value : command) value *= scale;
  return Replay(table.values[0], std::move(command));
}

// The one place where a scenario's message meets its type.
Excitation read_excitation(const v1::Scenario& source, const RigConfig& rig,
                           const std::string& path, const proto::TextLocator& root) {
  const auto with = [&](const auto& message, const char* field) {
    return read(message, Context{rig, path, source.duration_s(), root.at(field)});
  };
  switch (source.excitation_case()) {
    case v1::Scenario::kRelease:
      return with(source.release(), "release");
    case v1::Scenario::kSwingUp:
      return with(source.swing_up(), "swing_up");
    case v1::Scenario::kPulse:
      return with(source.pulse(), "pulse");
    case v1::Scenario::kStep:
      return with(source.step(), "step");
    case v1::Scenario::kChirp:
      return with(source.chirp(), "chirp");
    case v1::Scenario::kMultisine:
      return with(source.multisine(), "multisine");
    case v1::Scenario::kReplay:
      return with(source.replay(), "replay");
    case v1::Scenario::EXCITATION_NOT_SET:
      break;
  }
  root.fail(
      "names no excitation; write one of release, swing_up, pulse, step, chirp, multisine, "
      "replay");
}

// A scenario may ask for less than the rig allows, never for more. 0: nothing is asked.
double tighter(double limit, double wish, const char* field, const proto::TextLocator& place) {
  if (wish == 0.0) return limit;
  if (wish <= limit) return wish;
  std::ostringstream what;
  what << field << " is " << wish << ", the rig file allows " << limit
       << "; lower it or leave it out";
  place.at(field).fail(what.str());
}

// The bound is one of magnitude, the rig's may differ on the two sides.
void tighten_angle(JointLimits& joint, double wish, const proto::TextLocator& place) {
  if (wish == 0.0) return;
  const double widest = std::max(std::abs(joint.angle_rad_min), std::abs(joint.angle_rad_max));
  tighter(widest, wish, "angle_rad_max", place);
  joint.angle_rad_max = std::min(joint.angle_rad_max, wish);
  joint.angle_rad_min = std::max(joint.angle_rad_min, -wish);
}

SafetyLimits tighten(const SafetyLimits& rig, const v1::Limits& wishes,
                     const proto::TextLocator& place) {
  SafetyLimits limits = rig;
  limits.command_max = tighter(limits.command_max, wishes.command_max(), "command_max", place);
  limits.command_slew_per_s_max =
      tighter(limits.command_slew_per_s_max, wishes.command_slew_max(), "command_slew_max", place);
  for (int i = 0; i < wishes.hinge_size(); ++i) {
    const v1::HingeLimit& wish = wishes.hinge(i);
    const proto::TextLocator where = place.at("hinge", i);
    const auto joint =
        std::find_if(limits.joint.begin(), limits.joint.end(),
                     [&](const JointLimits& entry) { return entry.hinge == wish.hinge(); });
    if (joint == limits.joint.end()) {
      where.fail("hinge \"" + wish.hinge() + "\" has no channel in the rig file");
    }
    tighten_angle(*joint, wish.angle_rad_max(), where);
    joint->speed_rad_per_s_max = tighter(joint->speed_rad_per_s_max, wish.speed_rad_per_s_max(),
                                         "speed_rad_per_s_max", where);
  }
  const std::vector<std::string> faults = find_faults(limits);
  if (!faults.empty()) place.fail(faults.front());
  return limits;
}

}  // namespace

ScenarioConfig load_scenario_config(const std::string& path, const RigConfig& rig) {
  return parse_scenario_config(path, proto::read_file(path), rig);
}

ScenarioConfig parse_scenario_config(const std::string& path, const std::string& text,
                                     const RigConfig& rig) {
  v1::Scenario source;
  proto::TextLocator::Tree tree;
  proto::parse_text(path, text, source, tree);
  const proto::TextLocator root(path, source.GetDescriptor(), &tree);
  Scenario scenario(source.name(), read_excitation(source, rig, path, root), source.duration_s());
  const std::vector<std::string> faults = scenario.faults();
  if (!faults.empty()) root.fail(faults.front());

  const SafetyLimits limits = tighten(rig.limits, source.limits(), root.at("limits"));
  if (const double peak = scenario.command_peak(); !(peak <= limits.command_max)) {
    std::ostringstream what;
    what << "asks for up to " << peak << " " << rig.command_unit << ", allowed are "
         << limits.command_max << " (" << rig.path
         << ", safety.command_max, or this file's limits); lower the command";
    root.fail(what.str());
  }
  return {path, text, std::move(scenario), limits};
}

}  // namespace daq
