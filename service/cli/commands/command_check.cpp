#include <algorithm>
#include <iostream>
#include <stdexcept>

#include "estimator/diagnostics/misfit/excitation.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/terminal.hpp"
#include "service/report/examination_page.hpp"
#include "service/report/sections/finding_list.hpp"
#include "service/result/calibration_message.hpp"

namespace service {
namespace {

/// Returns a prediction which parameters the recordings can identify. If it fails, prints a note
/// and returns an empty prediction.
estimator::PredictedPrecision excitation_of(const estimator::DiagnosedInput& input,
                                            const EstimationOptions& options) {
  try {
    return estimator::predict_precision(input.mechanism, input.recordings, options.calibration,
                                        std::max(1, options.threads));
  } catch (const std::invalid_argument& reason) {
    std::cerr << "note: identifiability could not be predicted: " << reason.what() << '\n';
    return {};
  }
}

ExitCode exit_of(const std::vector<estimator::Finding>& findings) {
  using estimator::Severity;
  if (estimator::has_fault(findings)) return kBadInput;
  const auto severity = &estimator::Finding::severity;
  return std::ranges::count(findings, Severity::kWarning, severity) > 0 ? kNotConverged : kDone;
}

ExitCode check(const CheckOptions& options) {
  CalibrationInput input = load_estimation_input("check", options.estimation, options.files);
  const InterruptFlag interrupt(options.estimation.time_limit);
  estimator::CalibrationMonitor monitor;
  monitor.stop = &interrupt.flag();
  estimator::DiagnosedInput examined;
  estimator::PredictedPrecision excitation;
  {
    ProgressLine progress({.quiet = options.estimation.quiet});
    progress.show("stage 1 of 2, checks of the recordings", "");
    examined = diagnose_input(input, monitor);
    progress.show("stage 2 of 2, identifiability, " + progress.elapsed_text(), "");
    excitation = excitation_of(examined, options.estimation);
  }
  if (interrupt.flag().load()) {
    std::cerr << "rigcal: stopped before all checks were done; nothing was written\n";
    return kInterrupted;
  }
  const std::string list = format_findings(examined.findings);
  print_text(
      (list.empty() ? "No problems found.\n" : list) + "\n" + format_identifiability(excitation),
      list.empty() ? TextTone::kGood : TextTone::kPlain);
  write_result_files(
      options.files, [&] { return findings_json(examined.findings, excitation, input.context); },
      [&] {
        input.context.held = find_rejected_readings(input.recordings, examined.recordings,
                                                    examined.mechanism, examined.findings);
        return render_examination_page(examined.mechanism, examined.recordings, examined.findings,
                                       excitation, input.context);
      });
  return exit_of(examined.findings);
}

}  // namespace

void add_options(CLI::App& command, CheckOptions& options) {
  add_estimation_options(command, options.estimation);
  add_option(command, "--json", options.files.json, "FILE", "Write the findings as JSON");
  add_option(
      command, "--plot", options.files.plot, "FILE",
      "Write a report with the findings marked on the readings (HTML, or PDF with Chromium)");
}

void add_check(CLI::App& app, ExitCode& exit_code) {
  add_command<CheckOptions>(
      app, exit_code, "check", "Check recordings and a rig file for problems",
      "Reports each problem with its time, size and remedy, what calibrate repairs by itself, and\n"
      "the predicted standard deviations of the free parameters. calibrate always runs these\n"
      "checks.\n"
      "Exit status: 0 no problems, or only notes; 2 warnings; 1 faults or bad input.\n"
      "Examples:\n"
      "  rigcal check run.csv --rig rig.textproto\n"
      "  rigcal check a.csv b.mcap --rig rig.textproto --json findings.json --plot findings.html",
      check);
}

}  // namespace service
