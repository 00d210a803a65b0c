#include "service/convert/scenario_file.hpp"

#include <cmath>
#include <filesystem>

#include "proto/scenario.pb.h"
#include "proto/text/csv_table.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/text_file.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;

/// Reads one scenario message for a rig.
class ScenarioReader {
 public:
  ScenarioReader(const std::string& path, const v1::Scenario& source,
                 const proto::TextLocator& root, const Rig& rig)
      : path_(path), source_(source), root_(root), rig_(rig) {}

  Scenario read() {
    scenario_.name = source_.name();
    scenario_.duration = positive(source_.duration_s(), root_, "duration_s");
    if (source_.has_rate_hz()) scenario_.rate = positive(source_.rate_hz(), root_, "rate_hz");
    read_initial_state();
    scenario_.excitation = read_excitation();
    read_limits();
    scenario_.noise = at_least_zero(source_.noise().angle_standard_deviation_rad(),
                                    root_.at("noise"), "angle_standard_deviation_rad");
    scenario_.quantise = source_.noise().quantise();
    scenario_.seed = source_.noise().seed();
    return scenario_;
  }

 private:
  static double positive(double value, const proto::TextLocator& place, const char* field) {
    if (value > 0.0 && std::isfinite(value)) return value;
    place.at(field).fail(std::string(field) + " must be given and positive");
  }
  static double at_least_zero(double value, const proto::TextLocator& place, const char* field) {
    if (value >= 0.0 && std::isfinite(value)) return value;
    place.at(field).fail(std::string(field) + " must be 0 or larger");
  }
  static double finite(double value, const proto::TextLocator& place, const char* field) {
    if (std::isfinite(value)) return value;
    place.at(field).fail(std::string(field) + " must be a finite number");
  }

  int find_hinge(const std::string& name, const proto::TextLocator& place,
                 const char* field) const {
    std::string known;
    for (int j = 0; j < rig_.mechanism.hinge_count(); ++j) {
      const std::string& hinge = rig_.mechanism.hinges[static_cast<std::size_t>(j)].name;
      if (hinge == name) return j;
      known += (known.empty() ? "" : ", ") + hinge;
    }
    place.at(field).fail("the rig has no hinge '" + name + "'; " + field + " is one of " + known);
  }

  int find_motor(const std::string& name, const proto::TextLocator& place) const {
    const int hinge = find_hinge(name, place, "motor");
    if (rig_.mechanism.hinges[static_cast<std::size_t>(hinge)].motorised) return hinge;
    place.at("motor").fail("hinge '" + name + "' has no motor in " + rig_.path +
                           "; name a hinge that has one");
  }

  void read_initial_state() {
    scenario_.initial_angles.setZero(rig_.mechanism.hinge_count());
    scenario_.initial_speeds.setZero(rig_.mechanism.hinge_count());
    for (int i = 0; i < source_.initial_size(); ++i) {
      const proto::TextLocator place = root_.at("initial", i);
      const v1::InitialState& initial = source_.initial(i);
      const int hinge = find_hinge(initial.hinge(), place, "hinge");
      scenario_.initial_angles[hinge] = finite(initial.angle_rad(), place, "angle_rad");
      scenario_.initial_speeds[hinge] = finite(initial.speed_rad_per_s(), place, "speed_rad_per_s");
    }
  }

  Excitation read_excitation() {
    switch (source_.excitation_case()) {
      case v1::Scenario::kRelease:
        return read_release(source_.release(), root_.at("release"));
      case v1::Scenario::kSwingUp:
        return read_swing_up(source_.swing_up(), root_.at("swing_up"));
      case v1::Scenario::kPulse:
        return read_pulse(source_.pulse(), root_.at("pulse"));
      case v1::Scenario::kStep:
        return read_step(source_.step(), root_.at("step"));
      case v1::Scenario::kChirp:
        return read_chirp(source_.chirp(), root_.at("chirp"));
      case v1::Scenario::kMultisine:
        return read_multisine(source_.multisine(), root_.at("multisine"));
      case v1::Scenario::kReplay:
        return read_replay(source_.replay(), root_.at("replay"));
      case v1::Scenario::EXCITATION_NOT_SET:
        break;
    }
    root_.fail(
        "has no excitation; write one of release, swing_up, pulse, step, chirp, multisine, "
        "replay");
  }

  Release read_release(const v1::Release& source, const proto::TextLocator& place) {
    Release release;
    release.rest_speed =
        at_least_zero(source.rest_speed_rad_per_s(), place, "rest_speed_rad_per_s");
    release.rest_time = at_least_zero(source.rest_time_s(), place, "rest_time_s");
    return release;
  }

  SwingUp read_swing_up(const v1::SwingUp& source, const proto::TextLocator& place) {
    scenario_.motor = find_motor(source.motor(), place);
    scenario_.pendulum = find_hinge(source.pendulum(), place, "pendulum");
    SwingUp swing_up;
    swing_up.energy_gain = finite(source.energy_gain(), place, "energy_gain");
    if (swing_up.energy_gain == 0.0) place.at("energy_gain").fail("energy_gain must not be zero");
    swing_up.command_max = positive(source.command_max(), place, "command_max");
    swing_up.natural_frequency =
        positive(source.natural_frequency_hz(), place, "natural_frequency_hz");
    swing_up.stop_angle = at_least_zero(source.stop_angle_rad(), place, "stop_angle_rad");
    swing_up.kick_command = finite(source.kick_command(), place, "kick_command");
    swing_up.kick_time = at_least_zero(source.kick_time_s(), place, "kick_time_s");
    return swing_up;
  }

  Pulse read_pulse(const v1::Pulse& source, const proto::TextLocator& place) {
    scenario_.motor = find_motor(source.motor(), place);
    return {finite(source.command(), place, "command"),
            at_least_zero(source.start_s(), place, "start_s"),
            positive(source.width_s(), place, "width_s")};
  }

  Step read_step(const v1::Step& source, const proto::TextLocator& place) {
    scenario_.motor = find_motor(source.motor(), place);
    return {finite(source.command(), place, "command"),
            at_least_zero(source.start_s(), place, "start_s")};
  }

  Chirp read_chirp(const v1::Chirp& source, const proto::TextLocator& place) {
    scenario_.motor = find_motor(source.motor(), place);
    const double start = at_least_zero(source.start_s(), place, "start_s");
    if (start >= scenario_.duration) place.at("start_s").fail("must lie before duration_s");
    return {finite(source.amplitude(), place, "amplitude"),
            at_least_zero(source.frequency_start_hz(), place, "frequency_start_hz"),
            at_least_zero(source.frequency_end_hz(), place, "frequency_end_hz"), start,
            scenario_.duration};
  }

  Multisine read_multisine(const v1::Multisine& source, const proto::TextLocator& place) {
    scenario_.motor = find_motor(source.motor(), place);
    if (source.sine_size() == 0) place.fail("needs at least one sine { }");
    Multisine multisine;
    multisine.ramp = at_least_zero(source.ramp_s(), place, "ramp_s");
    for (int i = 0; i < source.sine_size(); ++i) {
      const v1::Sine& sine = source.sine(i);
      const proto::TextLocator where = place.at("sine", i);
      const double phase =
          sine.has_phase_rad() ? sine.phase_rad() : schroeder_phase(i + 1, source.sine_size());
      multisine.tones.push_back({positive(sine.frequency_hz(), where, "frequency_hz"),
                                 finite(sine.amplitude(), where, "amplitude"),
                                 finite(phase, where, "phase_rad")});
    }
    return multisine;
  }

  Replay read_replay(const v1::Replay& source, const proto::TextLocator& place) {
    scenario_.motor = find_motor(source.motor(), place);
    if (source.file().empty()) place.fail("needs the CSV file; write file: \"...\"");
    const auto folder = std::filesystem::path(path_).parent_path();
    const std::string file = (folder / source.file()).string();
    const proto::CsvTable table = proto::parse_csv(
        file, proto::read_file(file, proto::kTableSizeMax),
        {{source.time_column()}, {source.command_column(), proto::MissingCells::kAllowedAtTheEnd}});
    Replay replay;
    replay.times = table.values[0];
    replay.commands = table.values[1];
    const double scale = source.scale() == 0.0 ? 1.0 : finite(source.scale(), place, "scale");
    for (double& command : replay.commands) command *= scale;
    if (std::isnan(replay.commands.back())) replay.commands.back() = 0.0;
    for (std::size_t k = 1; k < replay.times.size(); ++k) {
      if (replay.times[k] > replay.times[k - 1]) continue;
      throw proto::InputError(table.where(static_cast<int>(k), 0) +
                              ": time does not increase; sort rows");
    }
    return replay;
  }

  void read_limits() {
    const proto::TextLocator place = root_.at("limits");
    const v1::Limits& limits = source_.limits();
    scenario_.command_max = at_least_zero(limits.command_max(), place, "command_max");
    scenario_.command_slew_max =
        at_least_zero(limits.command_slew_max(), place, "command_slew_max");
    if (scenario_.motor >= 0) {
      const double rig_max =
          rig_.hinge_facts[static_cast<std::size_t>(scenario_.motor)].control_max;
      if (rig_max > 0.0 && (scenario_.command_max == 0.0 || scenario_.command_max > rig_max)) {
        scenario_.command_max = rig_max;
      }
    }
    for (int i = 0; i < limits.hinge_size(); ++i) {
      const proto::TextLocator where = place.at("hinge", i);
      const v1::HingeLimit& limit = limits.hinge(i);
      scenario_.limits.push_back(
          {find_hinge(limit.hinge(), where, "hinge"),
           at_least_zero(limit.angle_rad_max(), where, "angle_rad_max"),
           at_least_zero(limit.speed_rad_per_s_max(), where, "speed_rad_per_s_max")});
    }
  }

  const std::string& path_;
  const v1::Scenario& source_;
  proto::TextLocator root_;
  const Rig& rig_;
  Scenario scenario_;
};

}  // namespace

Scenario parse_scenario(const std::string& path, const std::string& text, const Rig& rig) {
  v1::Scenario message;
  proto::TextLocator::Tree tree;
  proto::parse_text(path, text, message, tree);
  return ScenarioReader(path, message, proto::TextLocator(path, v1::Scenario::descriptor(), &tree),
                        rig)
      .read();
}

Scenario load_scenario(const std::string& path, const Rig& rig) {
  return parse_scenario(path, proto::read_file(path), rig);
}

}  // namespace service
