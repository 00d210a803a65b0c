#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "proto/service.pb.h"
#include "service/cli/command.hpp"
#include "service/cli/estimation_options.hpp"
#include "service/cli/remote/service_client.hpp"

namespace service {

/// Returns whether a recording on the command line is a session on the service, "session:ID".
bool is_session_reference(const std::string& recording);

/// Returns the full id of a session or job on the service. `text` is the id, or the beginning of
/// exactly one id.
/// @throws proto::InputError if there is none, or more than one
std::string find_session_id(ServiceClient& client, const std::string& text);
std::string find_job_id(ServiceClient& client, const std::string& text);

/// Prints the result of a finished job of the service as a table or as JSON.
ExitCode print_job_result(ServiceClient& client, const std::string& job_id, bool json);

/// Writes the files that describe the rig with the estimates of a finished job, like the options
/// --rig-out, --urdf-out and --mjcf-out of "calibrate".
/// @throws proto::InputError if a file cannot be written
void write_job_rig_files(const std::string& job_id, const rigcal::v1::CalibrationResult& result,
                         const ResultFiles& files);

/// Writes the report of a finished job to the file `path`.
/// @throws proto::InputError if that fails
void download_job_report(ServiceClient& client, const std::string& job_id, bool cross_validation,
                         const std::string& path);

/// Options of the command "calibrate" for calibrating on a service.
struct RemoteOptions {
  ServiceAddress server;
  std::string job_id;  ///< id of the new job; default: hash of the job's content
  bool detach = false;
  bool skip_cross_validation = false;
};

/// Adds the options for calibrating on a service to a command. With --server, the command
/// calibrates on a service. `remote` must stay valid during parsing.
void add_remote_options(CLI::App& command, RemoteOptions& remote);

/// Function that returns the id of the service's session that contains a recording. The argument is
/// the recording as given on the command line.
using SessionOf = std::function<std::string(const std::string& recording)>;

/// Makes the specification of the job that the command line requests. Reads the rig file.
/// @throws proto::InputError if a file or an option is invalid
rigcal::v1::JobSpec make_job_spec(const RemoteOptions& remote, const EstimationOptions& options,
                                  const SessionOf& session_of);

/// Calibrates on a service. Uploads recording files ("session:ID" refers to a recording that is
/// already on the service), submits the job, and shows its progress. Prints and writes the result
/// like a local calibration. The first Ctrl-C cancels the job.
ExitCode calibrate_remotely(const RemoteOptions& remote, const EstimationOptions& options,
                            const ResultFiles& files);

}  // namespace service
