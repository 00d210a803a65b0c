#pragma once

#include <CLI/CLI.hpp>

namespace service {

/// Exit statuses of rigcal.
enum ExitCode : int {
  kDone = 0,
  kBadInput = 1,  ///< bad input or usage; the message gives the remedy
  /// The result was written, but the solver did not converge. check: there are warnings. identify:
  /// the precision was not reached.
  kNotConverged = 2,
  kServiceTrouble = 3,  ///< service unavailable or request refused, or the job has no result
  kInterrupted = 130    ///< stopped by Ctrl-C
};

/// Each function adds one command to the program. The command sets `exit_code` when it runs. It
/// throws InputError, or std::invalid_argument from the estimator, for bad input.
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

// These connect to a calibration service (service/client/remote).
void add_sessions(CLI::App& app, ExitCode& exit_code);
void add_jobs(CLI::App& app, ExitCode& exit_code);
void add_watch(CLI::App& app, ExitCode& exit_code);
void add_cancel(CLI::App& app, ExitCode& exit_code);
void add_result(CLI::App& app, ExitCode& exit_code);
void add_report(CLI::App& app, ExitCode& exit_code);

}  // namespace service
