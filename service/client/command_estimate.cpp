#include <iostream>
#include <memory>

#include "proto/text/files.hpp"
#include "service/calibration/state_run.hpp"
#include "service/client/command.hpp"
#include "service/client/command_options.hpp"
#include "service/client/estimation_progress.hpp"
#include "service/report/state_csv.hpp"

namespace service {
namespace {

std::vector<estimator::StateEstimate> run(const EstimateOptions& options,
                                          const InterruptFlag& interrupt,
                                          CalibrationInput& input) {
  ProgressLine progress(options.estimation.quiet);
  return run_state_estimation(make_request(options.estimation), input,
                              make_monitor(interrupt, progress, options.estimation.threads));
}

void check_output(const EstimateOptions& options) {
  if (options.out == "-") return;
  std::vector<std::string> inputs = options.estimation.recordings;
  inputs.push_back(options.estimation.rig);
  if (!options.estimation.values.empty()) inputs.push_back(options.estimation.values);
  proto::check_output(options.out, inputs);
}

ExitCode estimate(const EstimateOptions& options) {
  check_output(options);
  CalibrationInput input = load_estimation_input(options.estimation);
  input.context.command = "estimate";
  const InterruptFlag interrupt;  // to the end: the states are written whole or not at all
  const std::vector<estimator::StateEstimate> states = run(options, interrupt, input);
  if (interrupt.flag()) {
    std::cerr << "rigcal: stopped; nothing was written\n";
    return kInterrupted;
  }
  const std::string text = state_csv(input.rig.mechanism, states);
  if (options.out == "-") {
    std::cout << text << std::flush;
    return kDone;
  }
  proto::write_file(options.out, text);
  std::size_t rows = 0;
  for (const estimator::StateEstimate& each : states) rows += each.times.size();
  std::cout << options.out << ": " << rows << " samples of "
            << input.rig.mechanism.hinge_count() << " joints\n";
  return kDone;
}

}  // namespace

void add_options(CLI::App& command, EstimateOptions& options) {
  add_estimation_options(command, options.estimation);
  command
      .add_option("--out", options.out,
                  "CSV file for the states: of every joint angle, rate and acceleration, each with "
                  "its standard deviation; '-' for standard output")
      ->required()
      ->type_name("FILE")
      ->group("Result");
}

void add_estimate(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command = app.add_subcommand(
      "estimate", "Estimate the motion of every joint at every sample, with given parameters");
  const auto options = std::make_shared<EstimateOptions>();
  add_options(*command, *options);
  command->footer(
      "Every parameter is kept, at the value of --parameters or of the rig file. States are\n"
      "smoothed: those of a sample follow from all readings of its segment, earlier and later.\n"
      "Joints that no encoder reads are estimated too. Deviations hold if the parameters are\n"
      "right.\n"
      "Examples:\n"
      "  rigcal estimate run.csv --rig rig.textproto --parameters run.json --out states.csv\n"
      "  rigcal estimate run.csv --rig rig.textproto --withhold h2 --out states.csv");
  command->callback([options, &exit_code] { exit_code = estimate(*options); });
}

}  // namespace service
