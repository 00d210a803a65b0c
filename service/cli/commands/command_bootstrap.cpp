#include <map>
#include <optional>

#include "proto/text/command_line/command_line.hpp"
#include "proto/text/input_error.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/terminal.hpp"
#include "service/report/bootstrap_report.hpp"
#include "service/report/sections/finding_list.hpp"

namespace service {
namespace {

using estimator::BootstrapMethod;

std::optional<BootstrapResult> bootstrap_with_progress(const BootstrapOptions& options,
                                                       CalibrationInput& input, ItemRun& run,
                                                       const InterruptFlag& interrupt) {
  ProgressLine progress({options.estimation.quiet, options.estimation.verbose});
  try {
    return run_bootstrap(input, options.settings, run.program(), run.executor(), run.store(),
                         make_monitor(interrupt, progress, options.estimation.threads),
                         show_items("draw", progress));
  } catch (const FaultyInput& fault) {
    print_text(format_findings(fault.findings));
    throw proto::InputError(std::string(fault.what()) + "; use --as-is to continue anyway");
  }
}

ExitCode bootstrap(const BootstrapOptions& options) {
  CalibrationInput input = load_estimation_input("bootstrap", options.estimation, options.files);
  ItemRun run(options.items, options.estimation.threads);
  const InterruptFlag interrupt(options.estimation.time_limit);
  const std::optional<BootstrapResult> result =
      bootstrap_with_progress(options, input, run, interrupt);
  if (!result) return run.report_unfinished(interrupt.flag().load());
  print_text(format_bootstrap(*result, input.context.wall_time),
             are_intervals_confirmed(*result) ? TextTone::kGood : TextTone::kDoubtful);
  write_result_files(
      options.files, [&] { return bootstrap_json(*result, input.context); },
      [&] { return render_bootstrap_page(*result, input.context); });
  return are_intervals_confirmed(*result) ? kDone : kNotConverged;
}

}  // namespace

void add_options(CLI::App& command, BootstrapOptions& options) {
  const std::map<std::string, BootstrapMethod> methods = {
      {"noise", BootstrapMethod::kNoise},
      {"blocks", BootstrapMethod::kBlocks},
      {"leave-out", BootstrapMethod::kLeaveOut}};
  add_estimation_options(command, options.estimation);
  const std::string group = "Draws";
  add_option(command, "--draws", options.settings.draws, "N",
             "Number of draws of the method noise, and of the method blocks", group)
      ->check(proto::count_from_to(2, 1'000'000))
      ->capture_default_str();
  add_option(
      command, "--method", options.settings.methods, "noise|blocks|leave-out",
      "noise: predicted readings with simulated sensor errors; blocks: blocks of time, drawn "
      "with replacement; leave-out: all recordings but one, or all blocks of a single "
      "recording but one; may be given several times. Default: all",
      group)
      ->transform(proto::one_of(methods))
      ->allow_extra_args(false);
  add_option(command, "--block-length", options.settings.block_length, "S",
             "Length of the blocks [s]; default: a twelfth of all recordings", group)
      ->check(proto::positive_number());
  add_option(
      command, "--disc-error", options.settings.disc_error, "RAD",
      "Amplitude of a simulated error of every encoder disc, once per turn [rad]; default: 0",
      group)
      ->check(proto::number_from_to(0.0, 0.1));
  add_option(command, "--seed", options.settings.seed, "N", "Seed of the random draws", group)
      ->capture_default_str();
  add_item_options(command, options.items, "draw");
  add_result_file_options(command, options.files);
}

void add_bootstrap(CLI::App& app, ExitCode& exit_code) {
  add_command<BootstrapOptions>(
      app, exit_code, "bootstrap", "Check the reported intervals by repeated calibrations",
      "Calibrates the recordings, then many draws of similar recordings, and compares the scatter\n"
      "of the estimates with the reported 95 % intervals. Results depend only on the input, the\n"
      "options and the seed.\n"
      "Exit status: 0 the reported intervals are confirmed, 2 contradicted, or too few draws.\n"
      "Examples:\n"
      "  rigcal bootstrap run.csv --rig rig.textproto --draws 1000 --folder draws\n"
      "  rigcal bootstrap a.csv b.csv --rig rig.textproto --method blocks --plot boot.html",
      bootstrap);
}

}  // namespace service
