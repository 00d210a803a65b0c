#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "service/cli/command.hpp"
#include "service/cli/estimation_options.hpp"
#include "service/cli/remote/service_socket.hpp"

namespace service {

/// Options of the command "calibrate" for calibrating on a service.
struct RemoteOptions {
  ServiceAddress server;
  std::string job_id;  ///< id of the new job; default: hash of the job's content
  bool detach = false;
  bool skip_cross_validation = false;
};

/// Adds the options for calibrating on a service to a command; --server selects such a calibration.
/// `remote` must outlive the parsing.
void add_remote_options(CLI::App& command, RemoteOptions& remote);

/// Calibrates on a service. Uploads recording files ("session:ID" refers to a recording that is
/// already on the service), submits the job, and shows its progress. Prints and writes the result
/// like a local calibration. The first Ctrl-C cancels the job.
ExitCode calibrate_remotely(const RemoteOptions& remote, const EstimationOptions& options,
                            const ResultFiles& files);

}  // namespace service
