#include <fmt/core.h>

#include <iostream>
#include <map>
#include <thread>
#include <utility>

#include "proto/text/command_line/command_line.hpp"
#include "proto/text/files.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/terminal.hpp"
#include "service/design/experiment.hpp"

namespace service {
namespace {

ExitCode run_design(const DesignOptions& options) {
  std::vector<std::string> inputs = {options.rig};
  for (const std::string& result : {options.after, options.values}) {
    if (!result.empty()) inputs.push_back(result);
  }
  proto::check_output_file(options.out, inputs);
  DesignInput today = load_design_input(options.rig, options.after, options.values);
  ExperimentRequest request = options.experiment;
  request.targets = parse_target_precisions("--for", options.targets, today.rig.mechanism,
                                            load_rig(options.rig).mechanism);
  if (request.threads == 0) {
    request.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  }
  const InterruptFlag interrupt;
  request.stop = &interrupt.flag();
  const DesignedExperiment experiment =
      design_with_progress(today, std::move(request), options.out, options.quiet);
  if (experiment.cancelled) {
    std::cerr << "rigcal: stopped; nothing was written\n";
    return kInterrupted;
  }
  for (const std::string& note : experiment.notes) std::cerr << "note: " << note << '\n';
  proto::write_file(options.out, experiment.scenario);
  std::cout << fmt::format(
      "{}\n{}: {}; none of {} simulations with parameters sampled within their uncertainty exceeds "
      "the rig's limits\n",
      format_experiment(experiment), options.out, command_kind_name(experiment.kind),
      experiment.draws);
  return kDone;
}

}  // namespace

DesignedExperiment design_with_progress(const DesignInput& today, ExperimentRequest request,
                                        const std::string& where, bool quiet) {
  ProgressLine progress({.quiet = quiet});
  request.progress = [&](const std::string& text) {
    progress.show(text, text.substr(0, text.find(", ")));
  };
  return design_experiment(today, request, where);
}

void add_experiment_options(CLI::App& command, ExperimentRequest& experiment) {
  command.add_option("--duration", experiment.duration, "Length of a run [s]")
      ->check(proto::number_from_to(0.5, 600.0))
      ->capture_default_str();
  command.add_option("--rate", experiment.rate, "Sampling rate of the unit [Hz]")
      ->check(proto::number_from_to(20.0, 10000.0))
      ->capture_default_str();
  add_option(command, "--motor", experiment.motor, "JOINT",
             "Joint whose motor is driven; default: the only joint with a motor");
  add_option(command, "--command-max", experiment.command_max, "NUMBER",
             "Maximum command, in the unit of the motor's command; default: the rig file's limit")
      ->check(proto::number_from_to(1e-9, 1e6));
  std::map<std::string, CommandKind> kinds;
  for (const CommandKind kind :
       {CommandKind::kMultisine, CommandKind::kPulses, CommandKind::kSwingUp}) {
    kinds[command_kind_name(kind)] = kind;
  }
  add_option(command, "--kind", experiment.kind, "multisine|pulses|swing-up",
             "Kind of command; default: the most informative kind")
      ->transform(proto::one_of(kinds));
  add_option(command, "--at", experiment.at, "JOINT=VALUE",
             "Joint position at the start of the run [rad or m]; default: "
             "zero, or the rest position under gravity")
      ->allow_extra_args(false);
  command
      .add_option("--threads", experiment.threads, "Number of threads; default: one per processor")
      ->check(proto::count_from_to(1, 1024));
}

void add_options(CLI::App& command, DesignOptions& options) {
  options.experiment.threads = 0;
  add_option(command, "--rig", options.rig, "FILE", "Rig file (proto/rig.proto)")->required();
  CLI::Option* const after = add_option(
      command, "--after", options.after, "RESULT.json",
      "Result of rigcal calibrate --json that provides prior values and standard deviations");
  add_parameter_values_option(command, options.values,
                              "Design with the values and covariance of this result "
                              "(rigcal calibrate --json)")
      ->excludes(after);
  add_option(command, "--for", options.targets, "NAME[:PRECISION]",
             "Parameter and its wanted standard deviation: 1.b:2%, or 1.b:1e-5 in its unit. "
             "Without PRECISION: as precisely as possible. Default: all free parameters");
  add_experiment_options(command, options.experiment);
  add_option(command, "--out", options.out, "FILE", "Scenario file to write")->required();
  command.add_flag("--quiet", options.quiet, "No progress");
}

void add_design(CLI::App& app, ExitCode& exit_code) {
  add_command<DesignOptions>(
      app, exit_code, "design", "Design the most informative experiment within the rig's limits",
      "Example:\n"
      "  rigcal design --rig configs/rig-furuta.textproto --after run.json --for 1.b:2% \\\n"
      "      --for 2.b:2% --duration 20 --out designed.textproto\n"
      "  rigcal-daq run --rig configs/rig-furuta.textproto --scenario designed.textproto \\\n"
      "      --out designed.mcap",
      run_design);
}

}  // namespace service
