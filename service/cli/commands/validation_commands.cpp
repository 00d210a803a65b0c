#include <iostream>
#include <map>

#include "proto/text/command_line/command_line.hpp"
#include "proto/text/input_error.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/terminal.hpp"
#include "service/report/cross_validation_report.hpp"
#include "service/report/sections/finding_list.hpp"
#include "service/report/validation_report.hpp"
#include "service/result/validation_message.hpp"

namespace service {
namespace {

ExitCode validate(const ValidateOptions& options) {
  CalibrationInput input = load_estimation_input("validate", options.estimation, options.files);
  // Until the end: a result is written completely or not at all.
  const InterruptFlag interrupt(options.estimation.time_limit);
  const auto validation =
      run_with_progress(options.estimation, interrupt, [&](const auto& monitor, std::string& part) {
        return run_validation(make_calibration_request(options.estimation), options.window,
                              options.start_window, input, monitor, [&](int window, int count) {
                                part = format_part_number("window", window,
                                                          static_cast<std::size_t>(count));
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
      [&] { return render_validation_page(validation, choice, input.context); });
  return has_fitted_initial_states(validation) || !options.estimation.calibration.refine_simulation
             ? kDone
             : kNotConverged;
}

/// Repairs faults of the recordings and prints them. Call it before the recordings are cut into
/// parts.
std::vector<estimator::Finding> repair_and_report(CalibrationInput& input) {
  try {
    return diagnose_and_repair_input(input);
  } catch (const FaultyInput& fault) {
    print_text(format_findings(fault.findings));
    throw proto::InputError(std::string(fault.what()) + "; use --as-is to continue anyway");
  }
}

ExitCode crossvalidate(const CrossvalidateOptions& options) {
  CalibrationInput input =
      load_estimation_input("crossvalidate", options.estimation, options.files);
  const std::vector<estimator::Finding> findings = repair_and_report(input);
  HeldOutPartOptions cut = options.cut;
  if (options.by->empty() && input.recordings.size() == 1) cut.kind = HeldOutPartKind::kSegment;
  const std::vector<estimator::Recording> parts =
      cut_into_parts(input.recordings, input.context.recordings, cut);
  // Until the end: a result is written completely or not at all.
  const InterruptFlag interrupt(options.estimation.time_limit);
  const auto validation =
      run_with_progress(options.estimation, interrupt, [&](const auto& monitor, std::string& part) {
        return run_cross_validation(input, parts, monitor, [&](int fold) {
          part = format_part_number("fold", fold, parts.size());
        });
      });
  if (validation.stopped) {
    std::cerr << "rigcal: stopped after " << validation.folds.size() << " of " << parts.size()
              << " folds; nothing was written\n";
    return kInterrupted;
  }
  print_text(format_cross_validation(validation, input.context.wall_time, findings));
  write_result_files(
      options.files, [&] { return cross_validation_json(validation, input.context); },
      [&] { return render_cross_validation_page(validation, input.context); });
  return have_all_folds_converged(validation) ? kDone : kNotConverged;
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
  add_result_file_options(command, options.files);
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

void add_options(CLI::App& command, CrossvalidateOptions& options) {
  const std::map<std::string, HeldOutPartKind> kinds = {{"recording", HeldOutPartKind::kRecording},
                                                        {"segment", HeldOutPartKind::kSegment}};
  add_estimation_options(command, options.estimation);
  const std::string parts = "Parts";
  options.by = add_option(command, "--by", options.cut.kind, "recording|segment",
                          "Hold out one recording or one segment at a time; default: "
                          "recording, or segment for a single recording",
                          parts)
                   ->transform(proto::one_of(kinds));
  CLI::Option* count =
      add_option(command, "--parts", options.cut.count, "N",
                 "Cut every segment into this number of parts of equal length", parts)
          ->check(proto::count_from_to(1, 1000));
  CLI::Option* length = add_option(command, "--part-length", options.cut.length, "S",
                                   "Cut every segment into parts of this length [s]", parts)
                            ->check(proto::positive_number());
  count->excludes(length)->excludes(options.by);
  length->excludes(options.by);
  add_result_file_options(command, options.files);
}

void add_crossvalidate(CLI::App& app, ExitCode& exit_code) {
  add_command<CrossvalidateOptions>(
      app, exit_code, "crossvalidate",
      "Predict every recording, or part of a recording, from all others",
      "Every fold calibrates without one part. With these parameters it then estimates the\n"
      "states of this part, and simulates the part open loop from a fitted initial state.\n"
      "Examples:\n"
      "  rigcal crossvalidate a.csv b.csv c.csv --rig rig.textproto --plot cross.html\n"
      "  rigcal crossvalidate run.csv --rig rig.textproto --parts 5 --json cross.json",
      crossvalidate);
}

}  // namespace service
