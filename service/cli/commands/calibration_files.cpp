#include "service/cli/commands/calibration_files.hpp"

#include <iostream>

#include "proto/text/files.hpp"
#include "service/cli/progress_line.hpp"
#include "service/cli/rig_files.hpp"
#include "service/cli/terminal.hpp"
#include "service/report/calibration_page.hpp"
#include "service/report/sections/finding_list.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/calibration_outcome.hpp"

namespace service {

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
  if (!files.json.empty()) {
    proto::write_file(files.json, calibration_json(calibration, input.context,
                                                   files.trajectories ? Trajectories::kWritten
                                                                      : Trajectories::kLeftOut));
  }
  if (!files.plot.empty()) {
    proto::write_file(files.plot, calibration_page(calibration, input.context));
  }
  write_rig_files(input.rig_name, input.context.request.rig_text,
                  calibrated_rig(calibration, input.context), files, files.json);
  return calibration.converged() ? kDone : kNotConverged;
}

}  // namespace service
