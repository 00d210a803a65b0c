#include <chrono>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "estimator/calibrate/validation.hpp"
#include "proto/text/command_line.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/client/command.hpp"
#include "service/client/command_options.hpp"
#include "service/client/estimation_progress.hpp"
#include "service/import/parameter_values.hpp"
#include "service/report/validation_report.hpp"

namespace service {
namespace {

/// Parameters of a simulator are right for its step, and are judged with the weight they had.
void take_choices(const ParameterValues& values, estimator::CalibrationOptions& options) {
  if (!options.kind) options.kind = values.kind;
  if (options.kind != estimator::EstimateKind::kShadow) return;
  if (options.step == 0.0) options.step = values.step;
  if (options.state_error_weight == 0.0) options.state_error_weight = values.state_error_weight;
}

estimator::Validation run(const CalibrationInput& input, const estimator::Mechanism& rig,
                          const std::vector<estimator::Recording>& windows,
                          const InterruptFlag& interrupt, const ValidateOptions& options,
                          double& wall_time) {
  ProgressLine progress(options.estimation.quiet);
  std::size_t count = 0;
  for (const estimator::Recording& recording : windows) count += recording.segments.size();
  std::string prefix;
  const estimator::CalibrationMonitor monitor =
      make_monitor(interrupt, progress, options.estimation.threads, &prefix);
  const auto on_window = [&](int window) {
    prefix = "window " + std::to_string(window + 1) + " of " + std::to_string(count) + ", ";
  };
  const auto start = std::chrono::steady_clock::now();
  estimator::Validation validation =
      estimator::validate(rig, input.rig.mechanism, windows, input.context.options,
                          options.start_window, monitor, on_window);
  wall_time = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return validation;
}

void note_short_segments(const CalibrationInput& input, double window,
                         estimator::Validation& validation) {
  for (const estimator::Recording& recording : input.recordings) {
    for (const estimator::Segment& segment : recording.segments) {
      if (segment.duration() + segment.period >= window) continue;
      validation.notes.push_back(recording.name +
                                 ": a segment is shorter than the window and was judged whole");
    }
  }
}

ExitCode validate(const ValidateOptions& options) {
  check_result_files(options.files, options.estimation);
  CalibrationInput input = load_estimation_input(options.estimation);
  take_choices(read_parameter_values(options.estimation.values), input.context.options);
  const estimator::Mechanism rig = load_rig(options.estimation.rig).mechanism;
  const std::vector<estimator::Recording> windows = cut_windows(input.recordings, options.window);
  const InterruptFlag interrupt;  // to the end: a result is written whole or not at all
  estimator::Validation validation;
  try {
    estimator::Mechanism checked = rig;
    checked.withheld = input.rig.mechanism.withheld;
    validation = run(input, checked, windows, interrupt, options, input.context.wall_time);
  } catch (const std::invalid_argument& fault) {
    throw proto::InputError(describe_fault(input, fault) +
                            (options.window > 0.0 ? ", or give a longer --window" : ""));
  }
  if (validation.stopped) {
    std::cerr << "rigcal: stopped after " << validation.windows.size()
              << " windows; nothing was written\n";
    return kInterrupted;
  }
  note_short_segments(input, options.window, validation);
  const ValidationChoice choice{options.estimation.values, options.window, input.rig.mechanism};
  std::cout << format_validation(validation, choice, input.context.wall_time) << std::flush;
  if (!options.files.json.empty()) {
    proto::write_file(options.files.json, validation_json(validation, choice, input.context));
  }
  if (!options.files.plot.empty()) {
    proto::write_file(options.files.plot, validation_page(validation, choice, input.context));
  }
  return is_fitted(validation) || options.estimation.no_refine ? kDone : kNotConverged;
}

}  // namespace

void add_options(CLI::App& command, ValidateOptions& options) {
  add_estimation_options(command, options.estimation);
  const std::string windows = "Windows";
  command
      .add_option("--window", options.window,
                  "Cut every segment into windows of this length, each with an initial state of "
                  "its own [s]; default: whole segments")
      ->check(proto::positive_number())
      ->type_name("S")
      ->group(windows);
  command
      .add_option("--start-window", options.start_window,
                  "Estimate a window's initial state from its first seconds alone, and judge the "
                  "rest [s]; default: from all of it")
      ->check(proto::positive_number())
      ->type_name("S")
      ->group(windows);
  add_result_files(command, options.files);
}

void add_validate(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("validate", "Tell how well given parameters predict recordings");
  const auto options = std::make_shared<ValidateOptions>();
  add_options(*command, *options);
  command->footer(
      "Every parameter is kept, at the value of --parameters or of the rig file; only initial\n"
      "states are estimated.\n"
      "Examples:\n"
      "  rigcal validate new.csv --rig rig.textproto --parameters run.json --plot out.html\n"
      "  rigcal validate new.csv --rig rig.textproto --parameters run.json --window 2\n"
      "  rigcal validate new.csv --rig rig.textproto --parameters run.json \\\n"
      "      --window 2 --start-window 0.5");
  command->callback([options, &exit_code] { exit_code = validate(*options); });
}

}  // namespace service
