#include <iostream>
#include <map>
#include <memory>

#include "proto/text/command_line/command_line.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/estimation_progress.hpp"
#include "service/cli/terminal.hpp"
#include "service/report/cross_validation_report.hpp"
#include "service/report/sections/finding_list.hpp"
#include "service/result/validation_message.hpp"

namespace service {
namespace {

estimator::CrossValidation run(const std::vector<estimator::Recording>& pieces,
                               const InterruptFlag& interrupt, const EstimationOptions& options,
                               CalibrationInput& input) {
  ProgressLine progress({options.quiet, options.verbose});
  std::string part;
  const estimator::CalibrationMonitor monitor =
      make_monitor(interrupt, progress, options.threads, &part);
  return run_cross_validation(input, pieces, monitor, [&](int fold) {
    part = "fold " + std::to_string(fold + 1) + " of " + std::to_string(pieces.size());
  });
}

/// Repairs faults of the recordings and prints them. Call it before the recordings are cut into
/// pieces.
std::vector<estimator::Finding> repair_and_report(CalibrationInput& input) {
  try {
    return repair_input(input);
  } catch (const FaultyInput& fault) {
    print_text(format_findings(fault.findings));
    throw proto::InputError(std::string(fault.what()) + "; use --as-is to continue anyway");
  }
}

ExitCode crossvalidate(const CrossvalidateOptions& options) {
  check_result_files(options.files, options.estimation);
  CalibrationInput input = load_estimation_input(options.estimation);
  input.context.command = "crossvalidate";
  const std::vector<estimator::Finding> findings = repair_and_report(input);
  PieceOptions cut = options.cut;
  if (options.by->empty() && input.recordings.size() == 1) cut.kind = PieceKind::kSegment;
  const std::vector<estimator::Recording> pieces =
      cut_pieces(input.recordings, input.context.recordings, cut);
  const InterruptFlag interrupt;  // until the end: a result is written completely or not at all
  const estimator::CrossValidation validation = run(pieces, interrupt, options.estimation, input);
  if (validation.stopped) {
    std::cerr << "rigcal: stopped after " << validation.folds.size() << " of " << pieces.size()
              << " folds; nothing was written\n";
    return kInterrupted;
  }
  print_text(format_cross_validation(validation, input.context.wall_time, findings));
  if (!options.files.json.empty()) {
    proto::write_file(options.files.json, cross_validation_json(validation, input.context));
  }
  if (!options.files.plot.empty()) {
    proto::write_file(options.files.plot, cross_validation_page(validation, input.context));
  }
  return has_converged(validation) ? kDone : kNotConverged;
}

}  // namespace

void add_options(CLI::App& command, CrossvalidateOptions& options) {
  const std::map<std::string, PieceKind> kinds = {{"recording", PieceKind::kRecording},
                                                  {"segment", PieceKind::kSegment}};
  add_estimation_options(command, options.estimation);
  const std::string pieces = "Pieces";
  options.by = command
                   .add_option("--by", options.cut.kind,
                               "Hold out one recording or one segment at a time; default: "
                               "recording, or segment for a single recording")
                   ->transform(proto::one_of(kinds))
                   ->type_name("recording|segment")
                   ->group(pieces);
  CLI::Option* count =
      command
          .add_option("--pieces", options.cut.count,
                      "Cut every segment into this number of pieces of equal length")
          ->check(proto::count_from_to(1, 1000))
          ->type_name("N")
          ->group(pieces);
  CLI::Option* length = command
                            .add_option("--piece-length", options.cut.length,
                                        "Cut every segment into pieces of this length [s]")
                            ->check(proto::positive_number())
                            ->type_name("S")
                            ->group(pieces);
  count->excludes(length)->excludes(options.by);
  length->excludes(options.by);
  add_result_files(command, options.files);
}

void add_crossvalidate(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command = app.add_subcommand(
      "crossvalidate", "Predict every recording, or piece of one, from all others");
  const auto options = std::make_shared<CrossvalidateOptions>();
  add_options(*command, *options);
  command->footer(
      "Every fold calibrates without one piece. With the parameters fixed it then estimates that\n"
      "piece's states and simulates the piece open loop from a fitted initial state.\n"
      "Examples:\n"
      "  rigcal crossvalidate a.csv b.csv c.csv --rig rig.textproto --plot cross.html\n"
      "  rigcal crossvalidate run.csv --rig rig.textproto --pieces 5 --json cross.json");
  command->callback([options, &exit_code] { exit_code = crossvalidate(*options); });
}

}  // namespace service
