#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "estimator/model/encoder.hpp"
#include "proto/text/command_line/command_line.hpp"
#include "proto/text/files.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/page_files.hpp"
#include "service/cli/terminal.hpp"
#include "service/options/parameter_values.hpp"
#include "service/report/charts/chart_figure.hpp"
#include "service/rig/parameters/parameter_edits.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

std::vector<double> column_of(const Eigen::MatrixXd& matrix, Eigen::Index column) {
  const auto values = matrix.col(column);
  return {values.begin(), values.end()};
}

/// Replaces the style sheet's variables by their first values, which are the light ones. Browsers
/// support such variables, but most image viewers do not.
std::string without_variables(std::string svg) {
  constexpr std::string_view kUse = "var(";
  for (std::size_t at = svg.find(kUse); at != std::string::npos; at = svg.find(kUse, at)) {
    const std::size_t end = svg.find(')', at);
    if (end == std::string::npos) break;
    const std::string name = svg.substr(at + kUse.size(), end - at - kUse.size()) + ":";
    const std::size_t defined = svg.find(name);
    if (defined == std::string::npos) {
      at = end;
      continue;
    }
    const std::size_t begin = svg.find_first_not_of(' ', defined + name.size());
    svg.replace(at, end + 1 - at, svg.substr(begin, svg.find(';', begin) - begin));
  }
  return svg;
}

/// Returns an SVG document that plots each encoder's readings and the command of a simulated run
/// over time.
/// @param title  title of the scenario
std::string simulation_plot(const Rig& rig, const SimulatedRun& run, const std::string& title) {
  std::vector<double> time;
  for (Eigen::Index k = 0; k < run.angles.rows(); ++k) {
    time.push_back(static_cast<double>(k) * run.period);
  }
  std::vector<Chart> charts;
  Eigen::Index column = 0;
  for (const estimator::Encoder& sensor : estimator::used_encoders(rig.mechanism)) {
    const std::string quantity = sensor.units().quantity;
    charts.push_back(make_time_chart(
        quantity + " " + sensor.name, quantity + " [" + sensor.units().coordinate + "]",
        {make_line_series("", "simulated", time, column_of(run.angles, column++))}));
  }
  column = 0;
  for (std::size_t j = 0; j < rig.joint_properties.size(); ++j) {
    if (!rig.mechanism.joints[j].motor.present) continue;
    charts.push_back(make_time_chart(
        "command of " + rig.mechanism.joints[j].name,
        "command [" + rig.joint_properties[j].control_unit + "]",
        {make_line_series("", "control", time, column_of(run.controls, column++))}));
  }
  return without_variables(render_chart_file(title, std::move(charts)));
}

ExitCode run_simulate(const SimulateOptions& options) {
  std::vector<std::string> inputs = {options.rig, options.scenario};
  if (!options.values.empty()) inputs.push_back(options.values);
  if (options.out.empty() && options.plot.empty()) {
    throw proto::InputError("nothing to write: give --out run.csv, --plot run.svg, or both");
  }
  for (const std::string& output : {options.out, options.plot}) {
    if (!output.empty()) proto::check_output_file(output, inputs);
  }
  if (!options.out.empty()) proto::check_file_extension(options.out, {".csv"});
  if (!options.plot.empty()) check_picture_path(options.plot);
  Rig rig = load_rig(options.rig);
  apply_parameter_values(read_parameter_values(options.values), rig.mechanism);
  apply_parameter_edits(options.edits, rig.mechanism);
  const Scenario scenario = load_scenario(options.scenario, rig);
  const InterruptFlag interrupt(options.time_limit);
  const SimulatedRun run =
      simulate(rig, scenario, options.step, &interrupt.flag(), options.integrator);
  if (run.cancelled) {
    std::cerr << "rigcal: stopped; nothing was written\n";
    return kInterrupted;
  }
  for (const std::string& note : run.notes) std::cerr << "note: " << note << '\n';
  if (!options.out.empty()) proto::write_file(options.out, simulation_csv(rig, run));
  if (!options.plot.empty())
    write_picture_file(options.plot, simulation_plot(rig, run, scenario.excitation.name()));
  std::cout << (options.out.empty() ? options.plot : options.out) << ": " << run.angles.rows()
            << " samples at " << format_number(1.0 / run.period) << " Hz, step "
            << format_number(1e3 * run.step) << " ms, "
            << (run.integrator == Integrator::kPhysical ? "equations of motion" : "SPOOK stepper")
            << '\n';
  return kDone;
}

}  // namespace

void add_options(CLI::App& command, SimulateOptions& options) {
  add_option(command, "--rig", options.rig, "FILE", "Rig file (proto/rig.proto)")->required();
  add_option(command, "--scenario", options.scenario, "FILE",
             "Scenario file (proto/scenario.proto)")
      ->required();
  add_option(command, "--out", options.out, "CSV", "CSV recording to write");
  add_option(command, "--plot", options.plot, "FILE",
             "Plot of command and motion to write: SVG, or PNG or PDF (with rsvg-convert)");
  command.add_option("--step", options.step, "Time step h [s]")
      ->check(time_step_validator())
      ->capture_default_str();
  add_time_limit_option(command, options.time_limit);
  const std::map<std::string, Integrator> integrators = {{"spook", Integrator::kSpook},
                                                         {"physical", Integrator::kPhysical}};
  add_option(command, "--integrator", options.integrator, "spook|physical",
             "Integrator. spook: the SPOOK stepper (revolute joints only). "
             "physical: the equations of motion in joint coordinates. "
             "Default: spook if it supports all joints, else physical")
      ->transform(proto::one_of(integrators));
  add_parameter_values_option(
      command, options.values,
      "Simulate with the parameter values of this result (rigcal calibrate --json)");
  add_option(command, "--start", options.edits.start, "NAME=VALUE",
             "Simulate with this parameter at VALUE")
      ->allow_extra_args(false);
}

void add_simulate(CLI::App& app, ExitCode& exit_code) {
  add_command<SimulateOptions>(
      app, exit_code, "simulate",
      "Simulate a scenario with the model of a rig file, and write a recording",
      "The columns are those of the rig file's recording { }, so that calibrate reads the file.\n"
      "Example:\n"
      "  rigcal simulate --rig configs/rig-furuta.textproto \\\n"
      "      --scenario configs/scenario-swing-up.textproto --out swing-up.csv --plot "
      "swing-up.svg",
      run_simulate);
}

}  // namespace service
