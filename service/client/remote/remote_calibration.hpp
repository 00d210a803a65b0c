#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "service/client/command.hpp"
#include "service/client/estimation_options.hpp"
#include "service/client/remote/service_socket.hpp"

namespace service {

/// What `calibrate` needs to know to run on a service.
struct RemoteOptions {
  ServiceAddress server;
  std::string job_id;  ///< default: named by its content
  bool detach = false;
  bool skip_cross_validation = false;
};

/// Adds the options; `remote` must outlive the parsing. --server makes a calibration remote.
void add_remote_options(CLI::App& command, RemoteOptions& remote);

/// Calibrates on a service: uploads recordings that are files ("session:ID" names one the service
/// has), submits the job, follows it, and prints and writes the result as a local run does. The
/// first Ctrl-C cancels the job.
ExitCode calibrate_remotely(const RemoteOptions& remote, const EstimationOptions& options,
                            const ResultFiles& files);

}  // namespace service
