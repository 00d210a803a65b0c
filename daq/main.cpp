#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "daq/commands/latency.hpp"

namespace {

constexpr int kExitBadInput = 2;

void add_real_time_options(CLI::App& command, daq::RealTimeSettings& settings) {
  command.add_option("--priority", settings.priority, "SCHED_FIFO priority, 0: ordinary thread")
      ->capture_default_str()
      ->check(CLI::Range(0, 99));
  command.add_option("--cpu", settings.cpu, "run the loop on this processor only");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("rigcal-daq: runs excitation scenarios on a pendulum rig at 1 kHz and records them");
  app.require_subcommand(1);
  int exit_code = 0;

  daq::LatencyOptions latency;
  double latency_duration_s = 10.0;
  CLI::App* latency_command =
      app.add_subcommand("latency", "measure how late this machine wakes a periodic thread");
  latency_command->add_option("--duration", latency_duration_s, "[s]")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 86400.0));
  add_real_time_options(*latency_command, latency.real_time);
  latency_command->callback([&] {
    latency.duration = daq::Nanoseconds(static_cast<std::int64_t>(latency_duration_s * 1e9));
    exit_code = daq::run_latency(latency, std::cout);
  });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitBadInput;
  } catch (const std::exception& error) {
    std::cerr << "rigcal-daq: " << error.what() << '\n';
    return kExitBadInput;
  }
  return exit_code;
}
