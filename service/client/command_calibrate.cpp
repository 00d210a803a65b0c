#include <iostream>
#include <memory>
#include <string>

#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/client/command.hpp"
#include "service/client/command_options.hpp"
#include "service/client/estimation_progress.hpp"
#include "service/client/interrupt.hpp"
#include "service/client/progress_line.hpp"
#include "service/report/calibration_page.hpp"
#include "service/report/finding_list.hpp"
#include "service/report/result_table.hpp"
#include "service/result/calibration_outcome.hpp"

namespace service {
namespace {

ExitCode calibrate(const CalibrateOptions& options) {
  check_result_files(options.files, options.estimation);
  if (!options.remote.server.host_port.empty()) {
    return calibrate_remotely(options.remote, options.estimation, options.files);
  }
  CalibrationInput input = load_estimation_input(options.estimation);
  const InterruptFlag interrupt;  // to the end: a result is written whole or not at all
  estimator::Calibration calibration;
  try {
    ProgressLine progress(options.estimation.quiet);
    calibration =
        run_calibration(input, make_monitor(interrupt, progress, options.estimation.threads));
  } catch (const FaultyInput& fault) {
    std::cout << format_findings(fault.findings) << std::flush;
    throw proto::InputError(std::string(fault.what()) + "; --as-is calibrates nevertheless");
  }
  if (was_stopped(calibration)) {
    std::cerr << "rigcal: stopped after "
              << calibration.iterations + calibration.refinement_iterations
              << " iterations; nothing was written\n";
    return kInterrupted;
  }
  std::cout << format_calibration(calibration, input.context.wall_time) << std::flush;
  if (!options.files.json.empty()) {
    proto::write_file(options.files.json, calibration_json(calibration, input.context));
  }
  if (!options.files.plot.empty()) {
    proto::write_file(options.files.plot, calibration_page(calibration, input.context));
  }
  return calibration.converged() ? kDone : kNotConverged;
}

}  // namespace

void add_options(CLI::App& command, CalibrateOptions& options) {
  add_estimation_options(command, options.estimation);
  add_result_files(command, options.files);
  add_remote_options(command, options.remote);
}

void add_calibrate(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("calibrate", "Estimate a rig's free parameters from recordings");
  const auto options = std::make_shared<CalibrateOptions>();
  add_options(*command, *options);
  command->footer(
      "Examples:\n"
      "  rigcal calibrate run.csv --rig configs/rig-furuta.textproto --json out.json\n"
      "  rigcal calibrate run.csv --rig rig.textproto --to 2 --fix 1.K=0.07 --plot out.html\n"
      "  rigcal calibrate a.csv b.csv --rig rig.textproto     (one set of parameters for both)");
  command->callback([options, &exit_code] { exit_code = calibrate(*options); });
}

}  // namespace service
