#include <iostream>
#include <map>
#include <memory>

#include "proto/text/command_line/command_line.hpp"
#include "proto/text/files.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/interrupt.hpp"
#include "service/cli/simulation_plot.hpp"
#include "service/options/parameter_values.hpp"
#include "service/rig/parameters/parameter_edits.hpp"
#include "service/simulation/scenario_file.hpp"
#include "service/simulation/simulation.hpp"
#include "service/simulation/simulation_csv.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

ExitCode run_simulate(const SimulateOptions& options) {
  std::vector<std::string> inputs = {options.rig, options.scenario};
  if (!options.values.empty()) inputs.push_back(options.values);
  if (options.out.empty() && options.plot.empty()) {
    throw proto::InputError("nothing to write: give --out run.csv, --plot run.svg, or both");
  }
  for (const std::string& output : {options.out, options.plot}) {
    if (!output.empty()) proto::check_output(output, inputs);
  }
  if (!options.out.empty()) proto::check_ending(options.out, {".csv"});
  if (!options.plot.empty()) proto::check_ending(options.plot, {".svg"});
  Rig rig = load_rig(options.rig);
  apply_values(read_parameter_values(options.values), rig.mechanism);
  apply_edits(options.edits, rig.mechanism);
  const Scenario scenario = load_scenario(options.scenario, rig);
  const InterruptFlag interrupt;
  const SimulatedRun run =
      simulate(rig, scenario, options.step, &interrupt.flag(), options.integrator);
  if (run.cancelled) {
    std::cerr << "rigcal: stopped; nothing was written\n";
    return kInterrupted;
  }
  for (const std::string& note : run.notes) std::cerr << "note: " << note << '\n';
  if (!options.out.empty()) proto::write_file(options.out, simulation_csv(rig, run));
  if (!options.plot.empty())
    proto::write_file(options.plot, simulation_plot(rig, run, scenario.excitation.name()));
  std::cout << (options.out.empty() ? options.plot : options.out) << ": " << run.angles.rows()
            << " samples at " << format_number(1.0 / run.period) << " Hz, step "
            << format_number(1e3 * run.step) << " ms, "
            << (run.integrator == Integrator::kPhysical ? "equations of motion" : "SPOOK stepper")
            << '\n';
  return kDone;
}

}  // namespace

void add_options(CLI::App& command, SimulateOptions& options) {
  command.add_option("--rig", options.rig, "Rig file (proto/rig.proto)")
      ->required()
      ->type_name("FILE");
  command.add_option("--scenario", options.scenario, "Scenario file (proto/scenario.proto)")
      ->required()
      ->type_name("FILE");
  command.add_option("--out", options.out, "CSV recording to write")->type_name("CSV");
  command.add_option("--plot", options.plot, "SVG plot of command and motion to write")
      ->type_name("SVG");
  command.add_option("--step", options.step, "Time step h [s]")
      ->check(step_validator())
      ->capture_default_str();
  const std::map<std::string, Integrator> integrators = {{"spook", Integrator::kSpook},
                                                         {"physical", Integrator::kPhysical}};
  command
      .add_option("--integrator", options.integrator,
                  "Integrator: the SPOOK stepper (revolute joints only) or the equations of motion "
                  "in joint coordinates; default: spook if it supports all joints, else physical")
      ->transform(proto::one_of(integrators))
      ->type_name("spook|physical");
  add_values_option(command, options.values, "Simulate");
  command.add_option("--start", options.edits.start, "Simulate with this parameter at VALUE")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

void add_simulate(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("simulate", "Simulate a scenario on a rig file's model, as a recording");
  const auto options = std::make_shared<SimulateOptions>();
  add_options(*command, *options);
  command->footer(
      "The columns are those of the rig file's recording { }, so that calibrate reads the file.\n"
      "Example:\n"
      "  rigcal simulate --rig configs/rig-furuta.textproto \\\n"
      "      --scenario configs/scenario-swing-up.textproto --out swing-up.csv --plot "
      "swing-up.svg");
  command->callback([options, &exit_code] { exit_code = run_simulate(*options); });
}

}  // namespace service
