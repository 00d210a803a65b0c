#include <iostream>

#include "proto/text/command_line/command_line.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/terminal.hpp"
#include "service/report/validation_report.hpp"

namespace service {
namespace {

ExitCode validate(const ValidateOptions& options) {
  CalibrationInput input = load_estimation_input("validate", options.estimation, options.files);
  const InterruptFlag interrupt;  // until the end: a result is written completely or not at all
  const auto validation =
      run_with_progress(options.estimation, interrupt, [&](const auto& monitor, std::string& part) {
        return run_validation(make_request(options.estimation),
                              {options.window, options.start_window}, input, monitor,
                              [&](int window, int count) {
                                part = part_text("window", window, static_cast<std::size_t>(count));
                              });
      });
  if (validation.stopped) {
    std::cerr << "rigcal: stopped after " << validation.windows.size()
              << " windows; nothing was written\n";
    return kInterrupted;
  }
  const ValidationSettings choice{options.estimation.values, options.window, input.rig.mechanism};
  print_text(format_validation(validation, choice, input.context.wall_time));
  write_result_files(
      options.files, [&] { return validation_json(validation, choice, input.context); },
      [&] { return validation_page(validation, choice, input.context); });
  return is_fitted(validation) || !options.estimation.calibration.refine_simulation ? kDone
                                                                                    : kNotConverged;
}

}  // namespace

void add_options(CLI::App& command, ValidateOptions& options) {
  add_estimation_options(command, options.estimation);
  const std::string windows = "Windows";
  add_option(command, "--window", options.window, "S",
             "Cut every segment into windows of this length, each with its own initial state [s]; "
             "default: whole segments",
             windows)
      ->check(proto::positive_number());
  add_option(command, "--start-window", options.start_window, "S",
             "Estimate a window's initial state from its first seconds, and evaluate the rest [s]; "
             "default: use the whole window for both",
             windows)
      ->check(proto::positive_number());
  add_result_files(command, options.files);
}

void add_validate(CLI::App& app, ExitCode& exit_code) {
  add_command<ValidateOptions>(
      app, exit_code, "validate", "Evaluate given parameters on recordings",
      "All parameters are fixed at the values of --parameters or of the rig file; only initial\n"
      "states are estimated.\n"
      "Examples:\n"
      "  rigcal validate new.csv --rig rig.textproto --parameters run.json --plot out.html\n"
      "  rigcal validate new.csv --rig rig.textproto --parameters run.json --window 2\n"
      "  rigcal validate new.csv --rig rig.textproto --parameters run.json \\\n"
      "      --window 2 --start-window 0.5",
      validate);
}

}  // namespace service
