#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <type_traits>

namespace service {

/// Exit statuses of rigcal.
enum ExitCode : int {
  kDone = 0,
  kBadInput = 1,  ///< bad input or usage; the message gives the remedy
  /// The result was written, but the solver did not converge. For "check": there are warnings. For
  /// "identify": the requested precision was not reached.
  kNotConverged = 2,
  kServiceTrouble = 3,  ///< service unavailable or request refused, or the job has no result
  kInterrupted = 130    ///< stopped by Ctrl-C or at the time limit
};

/// Function that adds one command to the program. When the command runs, it sets `exit_code`, and
/// for bad input it throws InputError or the estimator's std::invalid_argument.
using AddCommand = void(CLI::App& app, ExitCode& exit_code);
AddCommand add_calibrate, add_check, add_repeat, add_crossvalidate, add_bootstrap, add_batch,
    add_validate, add_estimate, add_compare, add_compare_results, add_simulate, add_design,
    add_identify, add_init, add_info, add_export, add_import, add_recover, add_work;

// The following commands connect to a calibration service (service/cli/remote).
AddCommand add_sessions, add_jobs, add_watch, add_cancel, add_result, add_report;

/// Adds a command to the program. `Options` is a struct with the command's options, for which an
/// overload of add_options exists.
/// @param run  runs the command with its options; returns the exit status, or nothing for kDone
template <typename Options, typename Run>
CLI::App* add_command(CLI::App& app, ExitCode& exit_code, const char* name, const char* description,
                      const char* footer, const Run& run) {
  CLI::App* const command = app.add_subcommand(name, description);
  const auto options = std::make_shared<Options>();
  add_options(*command, *options);
  command->footer(footer);
  command->callback([options, run, &exit_code] {
    if constexpr (std::is_void_v<decltype(run(*options))>) {
      run(*options);
      exit_code = kDone;
    } else {
      exit_code = run(*options);
    }
  });
  return command;
}

/// Adds an option with the name of its value type and the option group for --help.
template <typename Value>
CLI::Option* add_option(CLI::App& command, const char* name, Value& value, const char* type,
                        const std::string& description, const std::string& group = "Options") {
  CLI::Option* const option = command.add_option(name, value, description)->group(group);
  return *type == '\0' ? option : option->type_name(type);
}

}  // namespace service
