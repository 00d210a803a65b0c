#include <memory>

#include "service/cli/command.hpp"
#include "service/cli/commands/calibration_files.hpp"
#include "service/cli/commands/command_options.hpp"

namespace service {
namespace {

ExitCode calibrate(const CalibrateOptions& options) {
  check_result_files(options.files, options.estimation);
  if (!options.remote.server.host_port.empty()) {
    return calibrate_remotely(options.remote, options.estimation, options.files);
  }
  CalibrationInput input = load_estimation_input(options.estimation);
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
  CLI::App* command =
      app.add_subcommand("calibrate", "Estimate a rig's free parameters from recordings");
  const auto options = std::make_shared<CalibrateOptions>();
  add_options(*command, *options);
  command->footer(
      "Examples:\n"
      "  rigcal calibrate run.csv --rig configs/rig-furuta.textproto --json out.json\n"
      "  rigcal calibrate run.csv --rig rig.textproto --to 2 --fix 1.K=0.07 --plot out.html\n"
      "  rigcal calibrate a.csv b.csv --rig rig.textproto     (one set of parameters for both)\n"
      "  rigcal calibrate run.csv --rig rig.textproto --json run.json --rig-out run.textproto");
  command->callback([options, &exit_code] { exit_code = calibrate(*options); });
}

}  // namespace service
