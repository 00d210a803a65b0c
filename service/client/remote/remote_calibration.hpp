#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "service/client/command.hpp"
#include "service/client/estimation_options.hpp"
#include "service/client/remote/service_socket.hpp"

namespace service {

/// Options of `calibrate` for running on a service.
struct RemoteOptions {
  ServiceAddress server;
  std::string job_id;  ///< default: hash of its content
  bool detach = false;
  bool skip_cross_validation = false;
};

/// Adds the options; `remote` must outlive the parsing. --server makes the calibration remote.
void add_remote_options(CLI::App& command, RemoteOptions& remote);

/// Calibrates on a service. Uploads recordings that are files ("session:ID" names one on the
/// service), submits the job, and follows it. Prints and writes the result as a local run does. The
/// first Ctrl-C cancels the job.
ExitCode calibrate_remotely(const RemoteOptions& remote, const EstimationOptions& options,
                            const ResultFiles& files);

}  // namespace service
