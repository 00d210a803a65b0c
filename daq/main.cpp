#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <string>

#include "daq/commands/latency.hpp"
#include "daq/commands/probe.hpp"
#include "daq/commands/run.hpp"
#include "daq/commands/send.hpp"
#include "proto/recording/file.hpp"
#include "proto/text/command_line.hpp"

namespace {

using daq::ExitCode;

std::atomic<bool> stop_requested(false);
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only use such");

// What a second Ctrl-C leaves behind, and the sentence about it that a signal handler can write.
std::string unfinished_recording;
std::string last_words;

// The first Ctrl-C ends the run in order; a second one, for whoever cannot wait, ends the process:
// the unit then switches off by its own ttl.
extern "C" void request_stop(int signal) {
  if (!stop_requested.exchange(true)) return;
  if (!last_words.empty() && ::access(unfinished_recording.c_str(), F_OK) == 0) {
    static_cast<void>(!::write(STDERR_FILENO, last_words.data(), last_words.size()));
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

constexpr const char* kFooter =
    "Examples, beside\n"
    "  rigcal-sim --config configs/sim-furuta-hanging.textproto --link /tmp/rigcal-furuta\n"
    "in another terminal:\n"
    "  rigcal-daq probe --rig configs/rig-furuta.textproto\n"
    "  rigcal-daq run --rig configs/rig-furuta.textproto \\\n"
    "      --scenario configs/scenario-swing-up.textproto --out swing-up.mcap\n"
    "\n"
    "Exit status: 0 done or stopped by Ctrl-C, 1 trouble with port, unit, disk or output, 2 bad "
    "input\n"
    "or usage, 3 tripped by a safety limit.\n"
    "rigcal-daq COMMAND --help tells more about a command.";

class Commands {
 public:
  explicit Commands(CLI::App& app) {
    add_run(app);
    add_probe(app);
    add_monitor(app);
    add_latency(app);
    add_send(app);
  }

  ExitCode exit_code() const { return exit_code_; }

 private:
  void add_rig(CLI::App& command) {
    command.add_option("--rig", run_.rig_path, "rig file, configs/rig-*.textproto")->required();
    command.add_option("--url", run_.url, "unit to use instead of the rig file's");
  }

  // The names and the environment of rigcal's.
  static CLI::Option* add_service(CLI::App& command, const std::string& help,
                                  daq::ServiceOptions& service) {
    auto* host_port = command.add_option("--service", service.host_port, help);
    command
        .add_option("--tls-cert", service.tls.certificate,
                    "this computer's certificate, PEM; turns TLS on")
        ->envname("RIGCAL_TLS_CERT");
    command.add_option("--tls-key", service.tls.private_key, "its private key, PEM")
        ->envname("RIGCAL_TLS_KEY");
    command.add_option("--tls-ca", service.tls.authority, "authority of the service, PEM")
        ->envname("RIGCAL_TLS_CA");
    return host_port;
  }

  void add_run(CLI::App& app) {
    CLI::App& command = *app.add_subcommand("run", "run a scenario on the rig and record it");
    add_rig(command);
    command.add_option("--scenario", run_.scenario_path, "configs/scenario-*.textproto")
        ->required();
    CLI::Option* out = command.add_option("--out", run_.out_path, "recording to write, *.mcap");
    add_service(command, "also stream to this service, host:port or unix:/path", run_.service);
    CLI::Option* plot = command.add_option(
        "--plot", plot_path_,
        "dry run: write the planned command to this .svg or .csv and stop; of a scenario whose "
        "commands do not depend on the motion. Needs no unit in the rig file");
    out->excludes(plot);
    command.callback([this, out, plot] {
      if (*plot) {
        exit_code_ = daq::plot_scenario(run_, plot_path_, std::cout);
        return;
      }
      if (!*out) throw CLI::RequiredError("--out (or --plot for a dry run)");
      unfinished_recording = proto::part_path(run_.out_path);
      last_words =
          "\nrigcal-daq: ended at once, the unit switches off by its ttl; to finish what "
          "was recorded:\n  rigcal recover " +
          unfinished_recording + "\n";
      stop_on_signals();
      run_.terminal = ::isatty(STDOUT_FILENO) == 1;
      exit_code_ = daq::run_scenario(run_, stop_requested, std::cout);
    });
  }

  void add_probe(CLI::App& app) {
    CLI::App& command = *app.add_subcommand("probe", "say what the unit is and what it reads");
    add_rig(command);
    command.callback([this] {
      exit_code_ = daq::probe_unit(daq::load_rig(run_.rig_path, run_.url), std::cout);
    });
  }

  void add_monitor(CLI::App& app) {
    CLI::App& command = *app.add_subcommand("monitor", "watch the rig without driving it");
    add_rig(command);
    command.callback([this] {
      stop_on_signals();
      exit_code_ = daq::monitor_unit(daq::load_rig(run_.rig_path, run_.url), stop_requested,
                                     ::isatty(STDOUT_FILENO) == 1, std::cout);
    });
  }

  void add_latency(CLI::App& app) {
    CLI::App& command =
        *app.add_subcommand("latency", "measure how late this machine wakes a periodic thread");
    command.add_option("--duration", latency_duration_s_, "[s]")
        ->capture_default_str()
        ->check(proto::number_from_to(0.1, 86400.0));
    command.add_option("--priority", latency_.real_time.priority, "SCHED_FIFO, 0: ordinary thread")
        ->capture_default_str()
        ->check(proto::count_from_to(0, 99));
    command.add_option("--cpu", latency_.real_time.cpu, "run on this processor only")
        ->check(proto::count_from_to(-1, 1023));
    command.callback([this] {
      latency_.duration = daq::Nanoseconds(static_cast<std::int64_t>(latency_duration_s_ * 1e9));
      exit_code_ = daq::run_latency(latency_, std::cout);
    });
  }

  void add_send(CLI::App& app) {
    CLI::App& command =
        *app.add_subcommand("send", "send the service what it missed of a run that has ended");
    command.add_option("--spool", send_.spool_folder, "folder that run named, RECORDING.spool")
        ->required();
    add_service(command, "host:port or unix:/path", send_.service)->required();
    command.callback([this] {
      stop_on_signals();
      exit_code_ = daq::send_spool(send_, stop_requested, std::cout);
    });
  }

  daq::RunOptions run_;
  daq::SendOptions send_;
  std::string plot_path_;
  daq::LatencyOptions latency_;
  double latency_duration_s_ = 10.0;
  ExitCode exit_code_ = ExitCode::kDone;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs excitation scenarios on a pendulum rig and records them", "rigcal-daq");
  app.set_version_flag("--version", std::string("rigcal-daq ") + RIGCAL_VERSION);
  app.footer(kFooter);
  app.require_subcommand(1);
  const Commands commands(app);
  return proto::run_program(app, argc, argv, static_cast<int>(ExitCode::kBadInput),
                            [&] { return static_cast<int>(commands.exit_code()); });
}
