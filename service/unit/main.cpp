#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firmware_iface/sim/config/sim_config.hpp"
#include "firmware_iface/sim/sim_server.hpp"
#include "firmware_iface/sim/truth_file.hpp"
#include "firmware_iface/transport/url.hpp"
#include "proto/text/command_line/command_line.hpp"
#include "proto/text/input_error.hpp"
#include "service/unit/rig_unit.hpp"

namespace {

using namespace firmware_iface;
using firmware_iface::sim::UnitSimulation;

std::atomic<bool> stop_requested{false};

void request_stop(int /*signal*/) { stop_requested.store(true, std::memory_order_relaxed); }

constexpr int kBadInput = 1;                 // exit status
constexpr double kDuration_s_max = 1e8;      // three years
constexpr double kClockError_ppm_max = 1e5;  // a clock with an error above 10 % is broken
constexpr int kBaudRate_max = 100'000'000;

struct Options {
  std::string config;
  std::string rig;
  std::string values;
  std::vector<std::string> positions;
  std::string link;
  std::string tcp;
  std::string truth;
  double duration_s = 0.0;
  int priority = 50;
  bool hand = false;
  sim::SimOverrides overrides;
};

void print_faults(const char* direction, const LineFaultCounters& faults) {
  const std::string line = fmt::format(
      "faults {}: {} frames lost, {} duplicated, {} delayed, {} stalls, {} bursts, {} bytes lost, "
      "{} duplicated, {} bits flipped, {} bytes overflowed\n",
      direction, faults.frames_lost, faults.frames_duplicated, faults.frames_delayed, faults.stalls,
      faults.bursts, faults.bytes_lost, faults.bytes_duplicated, faults.bits_flipped,
      faults.bytes_overflowed);
  std::fputs(line.c_str(), stdout);
}

void print_statistics(UnitSimulation& simulation, std::uint64_t undelivered_bytes) {
  const sim::UnitCounters unit = simulation.unit().counters();
  const std::pair<const char*, std::uint64_t> lines[] = {
      {"ticks", unit.ticks},
      {"samples_sent", unit.samples_sent},
      {"streams", unit.streams},
      {"hellos", unit.hellos},
      {"commands", unit.commands},
      {"commands_rejected", unit.commands_rejected},
      {"clears", unit.clears},
      {"trips_boot", unit.trips[0]},
      {"trips_ttl", unit.trips[1]},
      {"trips_session", unit.trips[2]},
      {"trips_command", unit.trips[3]},
      {"trips_host", unit.trips[4]},
      {"unattended_us_max",
       static_cast<std::uint64_t>(unit.longest_unrefreshed_output.count()) / 1000},
      {"resets", unit.resets},
      {"dropouts", unit.dropouts},
      {"releases", unit.releases},
      {"frames_damaged", unit.frames_damaged},
      {"bytes_undelivered", undelivered_bytes},
  };
  for (const auto& [name, value] : lines) {
    std::printf("%s: %llu\n", name, static_cast<unsigned long long>(value));
  }
  print_faults("to_host", simulation.to_host().counters());
  print_faults("to_unit", simulation.to_unit().counters());
}

// A simulated unit needs real-time priority to keep time on a busy computer. If it is refused, the
// simulation runs with the usual jitter.
void ask_for_real_time(int priority) {
  const sched_param parameters{.sched_priority = priority};
  if (priority > 0) ::sched_setscheduler(0, SCHED_FIFO, &parameters);
}

/// The simulated rig and unit that the options select.
struct Simulated {
  sim::SimulationSettings settings;
  std::unique_ptr<sim::UnitPlant> plant;
  std::string parameter_text;                      ///< for the file beside the true motion
  const service::RigPlant* of_rig_file = nullptr;  ///< the plant, if it is from a rig file
};

Simulated load(const Options& options) {
  if (options.rig.empty()) {
    sim::SimConfig config = sim::load_sim_config(options.config, options.overrides);
    return {config.settings, std::make_unique<sim::Plant>(config.make_plant()),
            config.resolved_text, nullptr};
  }
  service::RigUnit unit = service::load_rig_unit({.rig = options.rig,
                                                  .config = options.config,
                                                  .values = options.values,
                                                  .positions = options.positions,
                                                  .moved_by_hand = options.hand,
                                                  .overrides = options.overrides},
                                                 stop_requested);
  const service::RigPlant* const plant = unit.plant.get();
  return {unit.settings, std::move(unit.plant), unit.parameter_text, plant};
}

int run(const Options& options) {
  if (options.rig.empty() && options.config.empty()) {
    throw proto::InputError("nothing to simulate: give --rig RIG.textproto or --config FILE");
  }
  Simulated simulated = load(options);
  Result<std::unique_ptr<sim::HostConnection>> port =
      options.tcp.empty() ? sim::make_pty_port(options.link) : sim::make_tcp_port(options.tcp);
  if (!port.ok()) throw proto::InputError(port.error().detail);

  const MonotonicTime time;
  const Nanoseconds start = time.now();
  std::unique_ptr<sim::TruthFile> truth;
  std::function<void(const sim::TrueState&)> on_true_state;
  if (!options.truth.empty()) {
    truth = std::make_unique<sim::TruthFile>(options.truth, simulated.parameter_text,
                                             simulated.plant->joint_count(), start,
                                             simulated.settings.unit.motor_count);
    on_true_state = [&truth](const sim::TrueState& row) { truth->write(row); };
  }
  UnitSimulation simulation(simulated.settings, std::move(simulated.plant), start, on_true_state);

  const int baud_rate = simulated.settings.to_host.baud_rate;
  fmt::print("{}{}\n", port.value()->url(),
             baud_rate > 0 ? fmt::format("?baud={}", baud_rate) : "");
  std::fflush(stdout);
  std::optional<Nanoseconds> end;
  if (options.duration_s > 0.0) {
    end = start + std::chrono::duration_cast<Nanoseconds>(
                      std::chrono::duration<double>(options.duration_s));
  }
  ask_for_real_time(options.priority);
  sim::HandInput hand(STDIN_FILENO);
  const std::uint64_t undelivered =
      sim::serve(simulation, *port.value(), stop_requested, end, options.hand ? &hand : nullptr);
  if (truth) truth->close();
  print_statistics(simulation, undelivered);
  if (simulated.of_rig_file != nullptr && !simulated.of_rig_file->error().empty()) {
    throw proto::InputError(simulated.of_rig_file->error());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Simulates a unit (microcontroller board) with a rig.\n"
      "Prints the URL that a host opens, runs until Ctrl-C, then prints its counters.\n"
      "\n"
      "  rigcal-sim --rig configs/rig-furuta.textproto --link /tmp/rig0",
      "rigcal-sim"};
  app.set_version_flag("--version", std::string("rigcal-sim ") + RIGCAL_VERSION);
  app.footer(
      "Exit status: 0 ended on request; 1 invalid input or usage, an error of a port or file, "
      "or a motion that cannot be simulated.");
  CLI::Option* rig =
      app.add_option("--rig", options.rig,
                     "Rig file (proto/rig.proto) with the rig, encoders and motors to simulate");
  app.add_option("--config", options.config,
                 "Simulation file (proto/sim.proto); "
                 "with --rig, it may only contain the unit, the line, the hand and faults");
  app.add_option("--parameters", options.values,
                 "Result file (calibrate --json) with the parameter values of the rig")
      ->needs(rig);
  app.add_option("--at", options.positions,
                 "Initial coordinate JOINT=VALUE [rad or m], or JOINT=VALUEdeg; "
                 "repeat it for several joints. Default: 0")
      ->needs(rig)
      ->allow_extra_args(false);
  CLI::Option* link =
      app.add_option("--link", options.link, "Path of a symbolic link to the pseudo-terminal");
  app.add_option("--tcp", options.tcp,
                 "Serve TCP on [HOST:]PORT instead of a pseudo-terminal; 0 picks a port")
      ->excludes(link);
  app.add_option("--truth", options.truth,
                 "Write the true motion to this CSV file, and the parameters to FILE.textproto");
  app.add_option("--duration", options.duration_s, "Stop after this time [s]")
      ->check(proto::number_from_to(1e-3, kDuration_s_max));
  app.add_option("--baud", options.overrides.baud_rate,
                 "Limit bytes to this baud rate, overriding the file; 0: no limit")
      ->check(CLI::Range(0, kBaudRate_max));
  app.add_option("--clock-ppm", options.overrides.clock_error_ppm,
                 "Rate error of the unit's clock [ppm], overriding the file")
      ->check(proto::number_from_to(-kClockError_ppm_max, kClockError_ppm_max));
  app.add_option("--priority", options.priority,
                 "SCHED_FIFO priority, below that of rigcal-daq; 0: none")
      ->capture_default_str()
      ->check(CLI::Range(0, 99));
  app.add_flag("--hand", options.hand,
               "Move the rig by lines on standard input: "
               "JOINT ANGLE_RAD [SECONDS] turns a joint, counted from 1, and holds the rig; "
               "release lets go");
  app.add_option("--seed", options.overrides.seed,
                 "Seed of all random faults, overriding the file");
  return proto::run_program(app, argc, argv, kBadInput, [&] {
    struct sigaction action {};
    action.sa_handler = request_stop;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    return run(options);
  });
}
