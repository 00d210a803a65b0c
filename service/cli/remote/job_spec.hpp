#pragma once

#include <functional>
#include <string>

#include "proto/service.pb.h"
#include "service/cli/estimation_options.hpp"
#include "service/cli/remote/remote_calibration.hpp"

namespace service {

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

}  // namespace service
