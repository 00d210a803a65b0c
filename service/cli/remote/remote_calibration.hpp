#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "proto/service.pb.h"
#include "service/cli/command.hpp"
#include "service/cli/estimation_options.hpp"
#include "service/cli/remote/service_client.hpp"

namespace service {

/// Returns the full id for an abbreviated id: `text` itself if it is one of `ids`, otherwise the
/// only id that begins with `text`.
/// @param kind  "session" or "job", for messages; the command "rigcal <kind>s" lists the ids
/// @throws proto::InputError if no id or several ids begin with `text`
std::string complete_id(const std::string& kind, const std::string& text,
                        const std::vector<std::string>& ids);

/// Returns the id of the session on the service that `text` abbreviates.
/// @throws proto::InputError if there is none, or more than one
std::string find_session(ServiceClient& client, const std::string& text);
std::string find_job(ServiceClient& client, const std::string& text);

/// Returns whether a recording on the command line is a session on the service, "session:ID".
bool is_session(const std::string& recording);

/// Returns the session id in the text "session:ID".
std::string session_id(const std::string& recording);

/// Function that returns the id of the session with the service's copy of a recording. The argument
/// is the recording as given on the command line.
using SessionOf = std::function<std::string(const std::string& recording)>;

/// Makes the specification of the job that the command line requests. Reads the rig file.
/// @throws proto::InputError if a file or an option is invalid
rigcal::v1::JobSpec make_spec(const RemoteOptions& remote, const EstimationOptions& options,
                              const SessionOf& session_of);

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
