#include <algorithm>
#include <iostream>
#include <memory>

#include "proto/recording/mcap/file.hpp"
#include "proto/text/command_line/command_line.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/calibration/state_run.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/estimation_progress.hpp"
#include "service/result/state_output.hpp"

namespace service {
namespace {

bool writes_mcap(const std::string& path) { return path.ends_with(".mcap"); }

void check_output(const EstimateOptions& options) {
  if (options.out == "-") return;
  std::vector<std::string> inputs = options.estimation.recordings;
  inputs.push_back(options.estimation.rig);
  if (!options.estimation.values.empty()) inputs.push_back(options.estimation.values);
  proto::check_output(options.out, inputs);
  proto::check_ending(options.out, {".csv", ".mcap"});
  if (!writes_mcap(options.out)) return;
  if (options.estimation.recordings.size() > 1) {
    throw proto::InputError(options.out +
                            ": an MCAP file has one clock; estimate one recording at a time, or "
                            "write CSV");
  }
  if (const proto::Status free = proto::check_free(options.out); !free.ok()) {
    throw proto::InputError(options.out + ": " + free.error().detail);
  }
}

std::vector<int> wanted_quantities(const EstimateOptions& options) {
  std::vector<int> wanted;
  for (const std::string& name : options.only.empty() ? state_names() : options.only) {
    for (const int quantity : state_quantities(name)) wanted.push_back(quantity);
  }
  std::ranges::sort(wanted);
  wanted.erase(std::ranges::unique(wanted).begin(), wanted.end());
  return wanted;
}

estimator::StateOptions state_options(const EstimateOptions& options,
                                      const std::vector<int>& wanted) {
  estimator::StateOptions result;
  if (options.causal || options.lag > 0.0) result.readings = estimator::StateReadings::kLagged;
  result.lag = options.lag;
  result.loads = wanted.back() >= static_cast<int>(estimator::StateQuantity::kLoads);
  return result;
}

void write(const EstimateOptions& options, const estimator::Mechanism& mechanism,
           const std::vector<estimator::StateEstimate>& states, const std::vector<int>& wanted) {
  if (writes_mcap(options.out)) {
    write_state_recording(options.out, mechanism, states, wanted);
  } else if (const std::string text = state_csv(mechanism, states, wanted); options.out == "-") {
    std::cout << text << std::flush;
  } else {
    proto::write_file(options.out, text);
  }
}

ExitCode estimate(const EstimateOptions& options) {
  check_output(options);
  const std::vector<int> wanted = wanted_quantities(options);
  CalibrationInput input = load_estimation_input(options.estimation);
  input.context.command = "estimate";
  const InterruptFlag interrupt;  // until the end: the states are written completely or not at all
  std::vector<std::string> notes;
  std::vector<estimator::StateEstimate> states;
  {
    ProgressLine progress({options.estimation.quiet, options.estimation.verbose});
    states = run_state_estimation(make_request(options.estimation), input,
                                  make_monitor(interrupt, progress, options.estimation.threads),
                                  state_options(options, wanted), notes);
  }
  if (interrupt.flag()) {
    std::cerr << "rigcal: stopped; nothing was written\n";
    return kInterrupted;
  }
  for (const std::string& note : notes) std::cerr << "note: " << note << '\n';
  write(options, input.rig.mechanism, states, wanted);
  if (options.out == "-") return kDone;
  std::size_t rows = 0;
  for (const estimator::StateEstimate& each : states) rows += each.times.size();
  std::cout << options.out << ": " << rows << " samples of " << input.rig.mechanism.joint_count()
            << " joints\n";
  return kDone;
}

}  // namespace

void add_options(CLI::App& command, EstimateOptions& options) {
  add_estimation_options(command, options.estimation);
  const std::string group = "Result";
  command
      .add_option("--out", options.out,
                  "CSV or MCAP file for the states, each with its standard deviation; \"-\" for "
                  "CSV on standard output")
      ->required()
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--only", options.only,
                  "Quantities to write for every joint, separated by commas; default: all that are "
                  "identifiable")
      ->delimiter(',')
      ->check(proto::one_of(state_names()))
      ->type_name("angle|rate|acceleration|effort|motor|friction|moment|force")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_flag("--causal", options.causal,
                "Use only readings up to each sample (a filter, as if it ran in real time)")
      ->group(group);
  command
      .add_option("--lag", options.lag,
                  "Use readings up to this time after each sample (fixed-lag smoother) [s]")
      ->check(proto::positive_number())
      ->group(group);
}

void add_estimate(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("estimate", "Estimate motion and loads of every joint at every sample");
  const auto options = std::make_shared<EstimateOptions>();
  add_options(*command, *options);
  command->footer(
      "All parameters are fixed at the values of --parameters or of the rig file. Each state is\n"
      "estimated from all readings of its segment, unless --causal or --lag is given. Joints\n"
      "without encoders are estimated, too. Standard deviations include the uncertainty of a\n"
      "result's parameters; values of a rig file count as exact.\n"
      "Examples:\n"
      "  rigcal estimate run.csv --rig rig.textproto --parameters run.json --out states.csv\n"
      "  rigcal estimate run.csv --rig rig.textproto --hold-out h2 --only angle --out states.csv\n"
      "  rigcal estimate run.csv --rig rig.textproto --causal --out states.mcap");
  command->callback([options, &exit_code] { exit_code = estimate(*options); });
}

}  // namespace service
