#include <chrono>
#include <iostream>
#include <memory>

#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/client/command.hpp"
#include "service/client/estimation_input.hpp"
#include "service/client/interrupt.hpp"
#include "service/client/progress_line.hpp"
#include "service/report/calibration_page.hpp"
#include "service/report/number_format.hpp"
#include "service/report/result_table.hpp"

namespace service {
namespace {

struct CalibrateOptions {
  EstimationOptions estimation;
  std::string json;
  std::string plot;
};

void check_outputs(const CalibrateOptions& options) {
  std::vector<std::string> inputs = options.estimation.recordings;
  inputs.push_back(options.estimation.rig);
  for (const std::string& output : {options.json, options.plot}) {
    if (!output.empty()) proto::check_output(output, inputs);
  }
  if (!options.json.empty() && options.json == options.plot) {
    throw proto::InputError(options.json + ": is both --json and --plot; name two files");
  }
}

estimator::Calibration run(const EstimationInput& input, const CalibrateOptions& options,
                           double& wall_time) {
  const InterruptFlag interrupt;
  ProgressLine progress(options.estimation.quiet);
  estimator::CalibrationMonitor monitor;
  monitor.stop = &interrupt.flag();
  monitor.on_iteration = [&](const estimator::IterationRecord& record) {
    progress.show("iteration " + std::to_string(record.iteration) + "  cost " +
                  format_number(record.cost, 7) + "  gradient " +
                  format_number(record.gradient_norm, 2));
  };
  const auto start = std::chrono::steady_clock::now();
  estimator::Calibration calibration = estimator::calibrate(
      input.rig.mechanism, input.recordings, options.estimation.calibration, monitor);
  wall_time = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return calibration;
}

ExitCode calibrate(const CalibrateOptions& options) {
  check_outputs(options);
  EstimationInput input = load_estimation_input(options.estimation);
  estimator::Calibration calibration = run(input, options, input.context.wall_time);
  if (calibration.termination == estimator::Termination::kCancelled) {
    std::cerr << "rigcal: stopped after " << calibration.iterations
              << " iterations; nothing was written\n";
    return kInterrupted;
  }
  for (const RecordingUse& use : input.context.recordings) {
    for (const std::string& note : describe_import(use.summary)) calibration.notes.push_back(note);
  }
  std::cout << format_calibration(calibration, input.context.wall_time) << std::flush;
  if (!options.json.empty()) {
    proto::write_file(options.json, calibration_json(calibration, input.context));
  }
  if (!options.plot.empty()) {
    proto::write_file(options.plot, calibration_page(calibration, input.context));
  }
  return estimator::is_converged(calibration.termination) ? kDone : kNotConverged;
}

}  // namespace

void add_calibrate(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("calibrate", "Estimate a rig's free parameters from recordings");
  const auto options = std::make_shared<CalibrateOptions>();
  add_estimation_options(*command, options->estimation);
  command->add_option("--json", options->json, "Write the result as JSON")->type_name("FILE");
  command->add_option("--plot", options->plot, "Write a report with plots as HTML")
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  rigcal calibrate run.csv --rig configs/rig-furuta.textproto --json out.json\n"
      "  rigcal calibrate run.csv --rig rig.textproto --to 2 --fix 1.K=0.07 --plot out.html\n"
      "  rigcal calibrate a.csv b.csv --rig rig.textproto     (one set of parameters for both)");
  command->callback([options, &exit_code] { exit_code = calibrate(*options); });
}

}  // namespace service
