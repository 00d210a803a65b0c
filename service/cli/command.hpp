#pragma once

#include <CLI/CLI.hpp>

namespace service {

/// Exit statuses of rigcal.
enum ExitCode : int {
  kDone = 0,
  kBadInput = 1,  ///< bad input or usage; the message gives the remedy
  /// The result was written, but the solver did not converge. For "check": there are warnings. For
  /// "identify": the requested precision was not reached.
  kNotConverged = 2,
  kServiceTrouble = 3,  ///< service unavailable or request refused, or the job has no result
  kInterrupted = 130    ///< stopped by Ctrl-C
};

/// Each of the functions below adds one command to the program. When the command runs, it sets
/// `exit_code`, and for bad input it throws InputError or the estimator's std::invalid_argument.
void add_calibrate(CLI::App& app, ExitCode& exit_code);
void add_check(CLI::App& app, ExitCode& exit_code);
void add_repeat(CLI::App& app, ExitCode& exit_code);
void add_crossvalidate(CLI::App& app, ExitCode& exit_code);
void add_validate(CLI::App& app, ExitCode& exit_code);
void add_estimate(CLI::App& app, ExitCode& exit_code);
void add_compare(CLI::App& app, ExitCode& exit_code);
void add_simulate(CLI::App& app, ExitCode& exit_code);
void add_design(CLI::App& app, ExitCode& exit_code);
void add_identify(CLI::App& app, ExitCode& exit_code);
void add_init(CLI::App& app, ExitCode& exit_code);
void add_info(CLI::App& app, ExitCode& exit_code);
void add_export(CLI::App& app, ExitCode& exit_code);
void add_import(CLI::App& app, ExitCode& exit_code);
void add_recover(CLI::App& app, ExitCode& exit_code);

// These connect to a calibration service (service/cli/remote).
void add_sessions(CLI::App& app, ExitCode& exit_code);
void add_jobs(CLI::App& app, ExitCode& exit_code);
void add_watch(CLI::App& app, ExitCode& exit_code);
void add_cancel(CLI::App& app, ExitCode& exit_code);
void add_result(CLI::App& app, ExitCode& exit_code);
void add_report(CLI::App& app, ExitCode& exit_code);

}  // namespace service
