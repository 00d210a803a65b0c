#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "daq/commands/commands.hpp"
#include "daq/console/until_rule.hpp"
#include "proto/recording/mcap/file.hpp"
#include "proto/text/command_line/command_line.hpp"

namespace {

using daq::ExitCode;

daq::RunFlags flags;

// A message about the effect of a second Ctrl-C, written by a signal handler.
std::string last_words;

// The first Ctrl-C ends the run in order: the real-time loop stops, even if other threads are
// blocked. A second one ends the process at once; the unit then switches off when the last
// command's ttl expires. Nothing here accesses a disk, which may hang.
extern "C" void request_stop(int signal) {
  flags.stop_loop.store(true);
  if (!flags.stop_requested.exchange(true)) return;
  if (flags.unfinished.load()) {
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
  std::signal(SIGXFSZ, SIG_IGN);  // report a file size limit as a full disk instead of ending
}

constexpr const char* kFooter =
    "Examples, with\n"
    "  rigcal-sim --config configs/sim-furuta-hanging.textproto --link /tmp/rigcal-furuta\n"
    "running in another terminal:\n"
    "  rigcal-daq probe --rig configs/rig-furuta.textproto\n"
    "  rigcal-daq commission --rig configs/rig-furuta.textproto\n"
    "  rigcal-daq run --rig configs/rig-furuta.textproto \\\n"
    "      --scenario configs/scenario-swing-up.textproto --out swing-up.mcap\n"
    "\n"
    "Exit status: 0 finished or stopped by Ctrl-C, 1 error of port, unit, disk or output,\n"
    "2 invalid input or usage, 3 tripped by a safety limit, 4 the rig is not commissioned.\n"
    "Run rigcal-daq COMMAND --help for help on a command.";

constexpr double kTestCommandMax = 0.2;

constexpr const char* kConformanceFooter =
    "Requirement numbers refer to firmware_iface/PROTOCOL.md; a letter denotes a part of a\n"
    "requirement. The table shows pass, FAIL or - (not tested) and the measured value of each.\n"
    "The test takes about 20 s and leaves the unit tripped.\n"
    "\n"
    "The test enables the unit's output. With the default --command 0 a fault-free unit does not\n"
    "move the motors. Switch off the motors' supply unless you test with another command.\n"
    "\n"
    "Exit status: 0 no requirement failed, 1 some failed, the port failed, or ended by Ctrl-C,\n"
    "2 invalid usage.\n"
    "\n"
    "Example, with rigcal-sim --config configs/sim-furuta.textproto --link /tmp/rigcal-furuta\n"
    "running in another terminal:\n"
    "  rigcal-daq conformance --url pty:///tmp/rigcal-furuta --json conformance.json";

class Commands {
 public:
  explicit Commands(CLI::App& app) {
    add_run(app);
    add_probe(app);
    add_monitor(app);
    add_commission(app);
    add_latency(app);
    add_send(app);
    add_conformance(app);
  }

  ExitCode exit_code() const { return exit_code_; }

 private:
  void add_rig(CLI::App& command) {
    command.add_option("--rig", run_.rig_path, "rig file, configs/rig-*.textproto")->required();
    command.add_option("--url", run_.url,
                       "address of the unit, instead of the address in the rig file");
  }

  daq::RigConfig load_watched_rig() const {
    return daq::load_rig(run_.rig_path, run_.url, daq::RigFilePurpose::kWatch);
  }

  // The same names and environment variables as in rigcal.
  static CLI::Option* add_service(CLI::App& command, const std::string& help,
                                  daq::ServiceOptions& service) {
    auto* host_port = command.add_option("--service", service.host_port, help);
    command
        .add_option("--tls-cert", service.tls.certificate,
                    "certificate of this computer, PEM file; enables TLS")
        ->envname("RIGCAL_TLS_CERT");
    command
        .add_option("--tls-key", service.tls.private_key, "private key of this computer, PEM file")
        ->envname("RIGCAL_TLS_KEY");
    command
        .add_option("--tls-ca", service.tls.authority,
                    "authority that signed the service's certificate, PEM file")
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
    command.add_flag("--not-commissioned", run_.not_commissioned,
                     "allow commands above 25 % of command_max on a rig that was not "
                     "commissioned, or that was changed afterwards");
    command
        .add_option("--until", until_,
                    "end the recording as soon as the model fits and the parameters of all "
                    "--until are precise enough; the precision is half of the 95 % interval, "
                    "e.g. B.J_yy:0.1% or \"B.J_yy:4e-6 kg·m²\"; needs --service")
        ->type_name("NAME:PRECISION");
    command.add_flag("--quiet", is_quiet_, "print lines only, without a live view of the run");
    CLI::Option* plot = command.add_option(
        "--plot", plot_path_,
        "dry run: only write the planned commands to this .svg or .csv file. For scenarios whose "
        "commands do not depend on the motion. The rig file needs no unit");
    out->excludes(plot);
    command.callback([this, out, plot] {
      if (*plot) {
        exit_code_ = daq::plot_scenario(run_, plot_path_, std::cout);
        return;
      }
      for (const std::string& text : until_) run_.until.push_back(daq::parse_live_target(text));
      if (!*out) throw CLI::RequiredError("--out (or --plot for a dry run)");
      last_words =
          "\nrigcal-daq: ended at once. The unit switches off when its last command expires. To "
          "finish the recording:\n"
          "  rigcal recover " +
          proto::part_file_path(run_.out_path) + "\n";
      stop_on_signals();
      run_.terminal = ::isatty(STDOUT_FILENO) == 1 && !is_quiet_;
      exit_code_ = daq::run_scenario(run_, flags, std::cout);
    });
  }

  void add_probe(CLI::App& app) {
    CLI::App& command =
        *app.add_subcommand("probe", "describe the unit and show one second of its samples");
    add_rig(command);
    command.callback([this] { exit_code_ = daq::probe_unit(load_watched_rig(), std::cout); });
  }

  void add_monitor(CLI::App& app) {
    CLI::App& command = *app.add_subcommand(
        "monitor", "show the rig's angles, speeds and timing live, without driving it");
    add_rig(command);
    command.callback([this] {
      stop_on_signals();
      exit_code_ = daq::monitor_unit(load_watched_rig(), flags.stop_requested,
                                     ::isatty(STDOUT_FILENO) == 1, std::cout);
    });
  }

  void add_commission(CLI::App& app) {
    CLI::App& command = *app.add_subcommand(
        "commission",
        "check a new rig step by step: encoders by moving joints by hand, motors by small pulses");
    add_rig(command);
    command.add_option("--joint", joints_, "joints to check; default: all with an encoder")
        ->type_name("NAME")
        ->expected(1, static_cast<int>(daq::kJointsMax))
        ->excludes(
            command.add_flag("--check", is_commission_check_,
                             "only report whether the rig was commissioned in its present state"));
    command.footer(
        "Run it at the rig, in a terminal, for a new rig and after changes of its encoders,\n"
        "cables, motors or unit. It guides you through each step, about two minutes for two\n"
        "joints. Motors move with 5 % of command_max, and with at most 20 % if you agree.\n"
        "At the end it shows the changes that it proposes for the rig file, and asks before it "
        "writes.\n"
        "\n"
        "Example with the simulated unit. In one terminal, which acts as the hand at the rig:\n"
        "  rigcal-sim --config configs/sim-furuta-hanging.textproto --link /tmp/rigcal-furuta "
        "--hand\n"
        "In another one:\n"
        "  rigcal-daq commission --rig configs/rig-furuta.textproto\n"
        "Carry out each step by a line in the first terminal, then press Enter in the second:\n"
        "  1 0        hold joint 1 at 0 rad, so that the arm does not turn downhill\n"
        "  1 1.5708   turn joint 1 a quarter turn\n"
        "  1 2.16     move the arm to its equilibrium before the motor is tested\n"
        "  release    let go\n"
        "\n"
        "Exit status: 0 commissioned, 1 error of port or unit, 2 invalid input or usage,\n"
        "4 not commissioned: faults were found, or you ended it.");
    command.callback([this] {
      stop_on_signals();
      if (is_commission_check_) {
        exit_code_ = daq::check_commission({run_.rig_path, run_.url, {}}, std::cout);
        return;
      }
      const bool terminal = ::isatty(STDOUT_FILENO) == 1;
      daq::OperatorConsole person(STDIN_FILENO, std::cout, terminal);
      exit_code_ = daq::commission_rig({run_.rig_path, run_.url, joints_}, flags.stop_requested,
                                       person, std::cout);
    });
  }

  void add_latency(CLI::App& app) {
    CLI::App& command = *app.add_subcommand(
        "latency", "measure the wake-up latency of a periodic thread on this computer");
    command.add_option("--duration", latency_duration_s_, "duration of the measurement [s]")
        ->capture_default_str()
        ->check(proto::number_from_to(0.1, 86400.0));
    command
        .add_option("--priority", latency_.real_time.priority,
                    "SCHED_FIFO priority; 0: ordinary thread")
        ->capture_default_str()
        ->check(proto::count_from_to(0, 99));
    command.add_option("--cpu", latency_.real_time.cpu, "pin the thread to this processor")
        ->check(proto::count_from_to(-1, 1023));
    command.callback([this] {
      latency_.duration = daq::Nanoseconds(static_cast<std::int64_t>(latency_duration_s_ * 1e9));
      exit_code_ = daq::print_latency_report(latency_, std::cout);
    });
  }

  void add_send(CLI::App& app) {
    CLI::App& command =
        *app.add_subcommand("send", "send the missing data of a finished run to the service");
    command
        .add_option("--spool", send_.spool_folder,
                    "spool folder RECORDING.spool, as printed by rigcal-daq run")
        ->required();
    add_service(command, "host:port or unix:/path", send_.service)->required();
    command.callback([this] {
      stop_on_signals();
      exit_code_ = daq::send_spooled_data(send_, flags.stop_requested, std::cout);
    });
  }

  void add_conformance(CLI::App& app) {
    CLI::App& command = *app.add_subcommand(
        "conformance", "test a unit against the link protocol, requirement by requirement");
    command.add_option("--url", conformance_.url, "unit to test, such as pty:///tmp/rigcal-furuta")
        ->required();
    command.add_option("--json", conformance_.json_path,
                       "write the results to this file as JSON; -: to standard output, and the "
                       "table to standard error");
    command
        .add_option("--command", conformance_.settings.command,
                    "command of the test as a share of each motor's range; 0: enable the output "
                    "with commands of 0")
        ->capture_default_str()
        ->check(proto::number_from_to(-kTestCommandMax, kTestCommandMax));
    command.add_flag("--after-reset", conformance_.settings.after_reset,
                     "the unit was just reset: also test its behaviour before the first HELLO");
    command
        .add_option("--only", conformance_.only, "test only these requirements, e.g. C8 or F5,R2")
        ->delimiter(',');
    command.footer(kConformanceFooter);
    command.callback([this] {
      stop_on_signals();
      exit_code_ = daq::test_conformance(conformance_, flags.stop_requested, std::cout, std::cerr);
    });
  }

  daq::RunOptions run_;
  daq::SendOptions send_;
  daq::ConformanceOptions conformance_;
  std::vector<std::string> joints_;
  std::string plot_path_;
  std::vector<std::string> until_;
  bool is_quiet_ = false;
  bool is_commission_check_ = false;
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
