#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "estimator/calibrate/state_estimate.hpp"
#include "proto/recording/mcap/file.hpp"
#include "proto/text/command_line/command_line.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/calibration/calibration_input.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/terminal.hpp"
#include "service/result/state_output.hpp"

namespace service {
namespace {

/// Estimates motion and loads in recordings with given parameter values. The values are those of
/// the request, or of its rig file. The uncertainty of values from a calibration result is
/// propagated to the states.
/// @param input  returned by `load_calibration_input` for the request
/// @param options  options without the parameter uncertainty, which this function sets
/// @param notes  messages are appended to it
/// @throws InputError for unusable input, or for shadow parameters, which are valid only for a
///         simulator
std::vector<estimator::StateEstimate> run_state_estimation(
    const CalibrationRequest& request, CalibrationInput& input,
    const estimator::CalibrationMonitor& monitor, estimator::StateEstimationOptions options,
    std::vector<std::string>& notes) {
  if (request.values.kind == estimator::EstimateKind::kShadow ||
      input.context.options.kind == estimator::EstimateKind::kShadow) {
    throw proto::InputError(
        "states cannot be estimated with shadow parameters, which are valid for one simulator "
        "only. "
        "Give --parameters the result of a calibration of physical parameters");
  }
  estimator::Mechanism rig = parse_rig(request.rig_name, request.rig_text).mechanism;
  rig.held_out = input.rig.mechanism.held_out;
  std::vector<std::string> unknown;
  options.spread = parameter_value_covariance(request.values, input.rig.mechanism, unknown);
  for (const std::string& name : unknown) {
    proto::add_note(notes,
                    "{} has no standard deviation for {}; "
                    "the standard deviations of the states assume that its value is exact",
                    request.values.file, name);
  }
  try {
    return estimator::estimate_states(rig, input.rig.mechanism, input.recordings,
                                      input.context.options, monitor, options);
  } catch (const std::invalid_argument& fault) {
    throw proto::InputError(describe_estimator_failure(input, fault.what()));
  }
}

bool writes_mcap(const std::string& path) { return path.ends_with(".mcap"); }

void check_output(const EstimateOptions& options) {
  if (options.out == "-") return;
  proto::check_output_file(options.out, input_file_paths(options.estimation));
  proto::check_file_extension(options.out, {".csv", ".mcap"});
  if (!writes_mcap(options.out)) return;
  if (options.estimation.recordings.size() > 1) {
    throw proto::InputError(
        "{}: an MCAP file has one clock; estimate one recording at a time, or write CSV",
        options.out);
  }
  if (const proto::Status free = proto::check_path_is_free(options.out); !free.ok()) {
    throw proto::InputError(options.out + ": " + free.error().detail);
  }
}

std::vector<int> wanted_quantities(const EstimateOptions& options) {
  std::vector<int> wanted;
  for (const std::string& name : options.only.empty() ? requestable_state_names() : options.only) {
    for (const int quantity : find_state_quantities(name)) wanted.push_back(quantity);
  }
  std::ranges::sort(wanted);
  wanted.erase(std::ranges::unique(wanted).begin(), wanted.end());
  return wanted;
}

estimator::StateEstimationOptions state_options(const EstimateOptions& options,
                                                const std::vector<int>& wanted) {
  estimator::StateEstimationOptions result;
  if (options.causal || options.lag > 0.0) result.readings = estimator::ReadingSelection::kLagged;
  result.lag = options.lag;
  result.loads = wanted.back() >= static_cast<int>(estimator::StateQuantity::kLoads);
  return result;
}

void write(const EstimateOptions& options, const estimator::Mechanism& mechanism,
           const std::vector<estimator::StateEstimate>& states, const std::vector<int>& wanted) {
  if (writes_mcap(options.out)) {
    write_state_mcap(options.out, mechanism, states, wanted);
  } else if (const std::string text = format_state_csv(mechanism, states, wanted);
             options.out == "-") {
    std::cout << text << std::flush;
  } else {
    proto::write_file(options.out, text);
  }
}

ExitCode estimate(const EstimateOptions& options) {
  check_output(options);
  const std::vector<int> wanted = wanted_quantities(options);
  CalibrationInput input = load_estimation_input("estimate", options.estimation);
  // Until the end: a result is written completely or not at all.
  const InterruptFlag interrupt(options.estimation.time_limit);
  std::vector<std::string> notes;
  std::vector<estimator::StateEstimate> states;
  {
    ProgressLine progress({options.estimation.quiet, options.estimation.verbose});
    states = run_state_estimation(make_calibration_request(options.estimation), input,
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
  add_option(command, "--out", options.out, "FILE",
             "CSV or MCAP file for the states, each with its standard deviation; "
             "\"-\" for CSV on standard output",
             group)
      ->required();
  add_option(command, "--only", options.only,
             "angle|rate|acceleration|effort|motor|friction|moment|force",
             "Quantities to write for every joint, separated by commas; default: "
             "all that are identifiable",
             group)
      ->delimiter(',')
      ->check(proto::one_of(requestable_state_names()))
      ->allow_extra_args(false);
  command
      .add_flag("--causal", options.causal,
                "Use only readings up to each sample (a filter, as if it ran in real time)")
      ->group(group);
  add_option(command, "--lag", options.lag, "",
             "Use readings up to this time after each sample (fixed-lag smoother) [s]", group)
      ->check(proto::positive_number());
}

void add_estimate(CLI::App& app, ExitCode& exit_code) {
  add_command<EstimateOptions>(
      app, exit_code, "estimate", "Estimate motion and loads of every joint at every sample",
      "All parameters are fixed at the values of --parameters or of the rig file. Each state is\n"
      "estimated from all readings of its segment, unless --causal or --lag is given. Joints\n"
      "without encoders are estimated, too. Standard deviations include the uncertainty of a\n"
      "result's parameters; values of a rig file count as exact.\n"
      "Examples:\n"
      "  rigcal estimate run.csv --rig rig.textproto --parameters run.json --out states.csv\n"
      "  rigcal estimate run.csv --rig rig.textproto --hold-out h2 --only angle --out states.csv\n"
      "  rigcal estimate run.csv --rig rig.textproto --causal --out states.mcap",
      estimate);
}

}  // namespace service
