#include <iostream>

#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/rig_files.hpp"
#include "service/cli/terminal.hpp"
#include "service/report/calibration_page.hpp"
#include "service/report/sections/finding_list.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/calibration_outcome.hpp"

namespace service {
namespace {

ExitCode calibrate(const CalibrateOptions& options) {
  check_result_files(options.files, input_files(options.estimation));
  if (!options.remote.server.host_port.empty()) {
    return calibrate_remotely(options.remote, options.estimation, options.files);
  }
  CalibrationInput input = load_estimation_input("calibrate", options.estimation);
  const InterruptFlag interrupt;  // until the end: a result is written completely or not at all
  const estimator::Calibration calibration =
      calibrate_locally(input, interrupt, {options.estimation.quiet, options.estimation.verbose},
                        options.estimation.threads);
  return print_calibration(calibration, input, options.files);
}

}  // namespace

void add_options(CLI::App& command, CalibrateOptions& options) {
  add_estimation_options(command, options.estimation);
  add_result_files(command, options.files);
  add_calibration_files(command, options.files);
  add_remote_options(command, options.remote);
}

void add_calibrate(CLI::App& app, ExitCode& exit_code) {
  add_command<CalibrateOptions>(
      app, exit_code, "calibrate", "Estimate a rig's free parameters from recordings",
      "Examples:\n"
      "  rigcal calibrate run.csv --rig configs/rig-furuta.textproto --json out.json\n"
      "  rigcal calibrate run.csv --rig rig.textproto --to 2 --fix 1.K=0.07 --plot out.html\n"
      "  rigcal calibrate a.csv b.csv --rig rig.textproto     (one set of parameters for both)\n"
      "  rigcal calibrate run.csv --rig rig.textproto --json run.json --rig-out run.textproto",
      calibrate);
}

estimator::Calibration calibrate_locally(CalibrationInput& input, const InterruptFlag& interrupt,
                                         ProgressOptions shown, int threads) {
  try {
    ProgressLine progress(shown);
    return run_calibration(input, make_monitor(interrupt, progress, threads));
  } catch (const FaultyInput& fault) {
    print_text(format_findings(fault.findings));
    throw proto::InputError(std::string(fault.what()) + "; use --as-is to calibrate anyway");
  }
}

ExitCode print_calibration(const estimator::Calibration& calibration, const CalibrationInput& input,
                           const ResultFiles& files) {
  if (was_stopped(calibration)) {
    std::cerr << "rigcal: stopped after "
              << calibration.iterations + calibration.refinement_iterations
              << " iterations; nothing was written\n";
    return kInterrupted;
  }
  const estimator::VerdictKind kind = calibration.verdict.kind;
  print_text(format_calibration(calibration, input.context.wall_time),
             kind == estimator::VerdictKind::kAccepted   ? Tone::kGood
             : kind == estimator::VerdictKind::kDoubtful ? Tone::kDoubtful
                                                         : Tone::kBad);
  const Trajectories trajectories =
      files.trajectories ? Trajectories::kWritten : Trajectories::kLeftOut;
  write_result_files(
      files, [&] { return calibration_json(calibration, input.context, trajectories); },
      [&] { return calibration_page(calibration, input.context); });
  write_rig_files(input.rig_name, input.context.request.rig_text,
                  calibrated_rig(calibration, input.context), files, files.json);
  return calibration.converged() ? kDone : kNotConverged;
}

}  // namespace service
