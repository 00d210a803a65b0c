#include <algorithm>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "estimator/diagnostics/misfit/excitation.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/calibration/rejected_readings.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/interrupt.hpp"
#include "service/cli/progress_line.hpp"
#include "service/cli/terminal.hpp"
#include "service/report/examination_page.hpp"
#include "service/report/sections/finding_list.hpp"
#include "service/result/calibration_message.hpp"

namespace service {
namespace {

/// Returns a prediction which parameters the recordings can identify. If it fails, prints a note
/// and returns an empty prediction.
estimator::Excitation excitation_of(const estimator::DiagnosedInput& input,
                                    const EstimationOptions& options) {
  try {
    return estimator::predict_excitation(input.mechanism, input.recordings, options.calibration,
                                         std::max(1, options.threads));
  } catch (const std::invalid_argument& reason) {
    std::cerr << "note: identifiability could not be predicted: " << reason.what() << '\n';
    return {};
  }
}

ExitCode exit_of(const std::vector<estimator::Finding>& findings) {
  if (estimator::has_fault(findings)) return kBadInput;
  const bool warned = std::ranges::any_of(findings, [](const estimator::Finding& finding) {
    return finding.severity == estimator::Severity::kWarning;
  });
  return warned ? kNotConverged : kDone;
}

ExitCode check(const CheckOptions& options) {
  check_result_files(options.files, options.estimation);
  CalibrationInput input = load_estimation_input(options.estimation);
  input.context.command = "check";
  const InterruptFlag interrupt;
  estimator::CalibrationMonitor monitor;
  monitor.stop = &interrupt.flag();
  estimator::DiagnosedInput examined;
  estimator::Excitation excitation;
  {
    ProgressLine progress({.quiet = options.estimation.quiet});
    progress.show("stage 1 of 2, checks of the recordings", "");
    examined = examine_input(input, monitor);
    progress.show("stage 2 of 2, identifiability, " + progress.elapsed(), "");
    excitation = excitation_of(examined, options.estimation);
  }
  if (interrupt.flag().load()) {
    std::cerr << "rigcal: stopped before all checks were done; nothing was written\n";
    return kInterrupted;
  }
  const std::string list = format_findings(examined.findings);
  print_text((list.empty() ? "No problems found.\n" : list) + "\n" + format_excitation(excitation),
             list.empty() ? Tone::kGood : Tone::kPlain);
  if (!options.files.json.empty()) {
    proto::write_file(options.files.json,
                      examination_json(examined.findings, excitation, input.context));
  }
  if (!options.files.plot.empty()) {
    input.context.held = rejected_readings(input.recordings, examined.recordings);
    proto::write_file(options.files.plot,
                      examination_page(examined.mechanism, examined.recordings, examined.findings,
                                       excitation, input.context));
  }
  return exit_of(examined.findings);
}

}  // namespace

void add_options(CLI::App& command, CheckOptions& options) {
  add_estimation_options(command, options.estimation);
  command.add_option("--json", options.files.json, "Write the findings as JSON")->type_name("FILE");
  command
      .add_option("--plot", options.files.plot,
                  "Write an HTML report with the readings and the findings marked on them")
      ->type_name("FILE");
}

void add_check(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command = app.add_subcommand("check", "Check recordings and a rig file for problems");
  const auto options = std::make_shared<CheckOptions>();
  add_options(*command, *options);
  command->footer(
      "Reports each problem with its time, size and remedy, what calibrate repairs by itself, and\n"
      "the predicted standard deviations of the free parameters. calibrate always runs these\n"
      "checks.\n"
      "Exit status: 0 nothing worse than notes, 2 warnings, 1 faults or bad input.\n"
      "Examples:\n"
      "  rigcal check run.csv --rig rig.textproto\n"
      "  rigcal check a.csv b.mcap --rig rig.textproto --json findings.json --plot findings.html");
  command->callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace service
